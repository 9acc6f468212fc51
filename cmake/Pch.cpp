// Anchors the precompiled header; holds no code.
