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
