//===- ReportTest.cpp - what a run prints ---------------------------------===//
#include "tools/tegula/Report.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace tegula::tool;

TEST(Report, RedoneRows) {
  for (uint32_t rows : {0u, 17u, 4000000000u}) {
    RunReport report;
    report.execution.schedule = "{}";
    report.execution.redoneRows = rows;
    std::string json, text;
    llvm::raw_string_ostream jsonStream(json), textStream(text);
    printJson(report, jsonStream);
    printText(report, textStream);

    auto parsed = llvm::json::parse(json);
    ASSERT_TRUE(bool(parsed)) << json;
    EXPECT_EQ(parsed->getAsObject()->getInteger("redone_rows"), int64_t(rows));
    std::string line = "  redone   " + std::to_string(rows) +
                       " rows, whose first result failed its check\n";
    EXPECT_EQ(text.find(line) != std::string::npos, rows != 0) << text;
  }
}

TEST(Report, Visits) {
  RunReport report;
  report.execution.schedule = "{}";
  for (bool counts : {false, true}) {
    if (counts)
      report.execution.visits = {12, 5000000000};
    std::string json, text;
    llvm::raw_string_ostream jsonStream(json), textStream(text);
    printJson(report, jsonStream);
    printText(report, textStream);

    auto parsed = llvm::json::parse(json);
    ASSERT_TRUE(bool(parsed)) << json;
    const llvm::json::Object *visits =
        parsed->getAsObject()->getObject("visits");
    EXPECT_EQ(visits != nullptr, counts) << json;
    std::string line =
        "  visits   12 blocks of keys with the mask, 5000000000 without\n";
    EXPECT_EQ(text.find(line) != std::string::npos, counts) << text;
    if (!visits)
      continue;
    EXPECT_EQ(visits->getInteger("partial"), 12);
    EXPECT_EQ(visits->getInteger("full"), 5000000000);
  }
}
