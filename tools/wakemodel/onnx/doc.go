// Package onnx reads what an ONNX file says about its graph: the operations in
// order, their attributes, and the float32 tensors. It is a reader for weights
// that are then written in another form; it runs nothing and knows no operation.
//
// Only the fields that are asked for are decoded; unknown ones are skipped as
// the protocol buffer encoding allows. Tensors kept in files of their own, and
// element types other than float32 and int64, are left out.
package onnx
