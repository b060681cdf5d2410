package main

import (
	"context"
	"errors"
	"io/fs"

	"homeagent/drivers/web/client"
	"homeagent/drivers/web/problem"
	"homeagent/firmware/control"
	"homeagent/firmware/words"
)

// told is an error in words of the house, which are in the reader's language already.
type told string

func (t told) Error() string { return string(t) }

// In returns the words as they came.
func (t told) In(string) string { return string(t) }

// garbled is an answer of another form than was expected.
func garbled(err error) *words.Error {
	return words.Errorf("回答看不懂（%v）；请让 homectl 与 homed 用同一个版本", "the answer cannot be read (%v); use homectl and homed of the same version", err)
}

// explain puts an error in words for a person, with what to do next. url is
// that of another box, "" for this one.
func explain(err error, url string) words.Speaker {
	var said interface {
		error
		words.Speaker
	}
	var prob *problem.Problem
	var refused *control.Refused
	var path *fs.PathError
	switch {
	case errors.Is(err, client.ErrUnreachable) && url != "":
		return words.Format("%s 没有应答（%v）；请检查地址，以及那台机器是否开着、在同一个网络里",
			"%s does not answer (%v); check the address, and that the box is on and in the same network", url, err)
	case errors.Is(err, client.ErrUnreachable):
		return words.Format("门（页面）没有应答（%v）；homed 在运行吗？`homectl status` 会说明，或用 -data 文件夹 指明它的数据文件夹",
			"%v; is homed running? `homectl status` tells, or name its folder with -data FOLDER", err)
	case errors.As(err, &said):
		return said
	case errors.As(err, &prob):
		return told(prob.Error())
	case errors.As(err, &refused):
		return told(refused.Text)
	case errors.Is(err, context.Canceled):
		return words.Text{ZH: "已中断；已经送出的话不会丢", EN: "interrupted; what was sent already is not lost"}
	case errors.As(err, &path):
		return words.Format("文件 %s 不能用（%v）；请检查路径和权限", "the file %s cannot be used (%v); check its path and permissions", path.Path, path.Err)
	}
	return words.Format("没有做成（%v）；请再试一次，`homectl logs` 可能说明原因", "it did not work (%v); try again, `homectl logs` may tell why", err)
}
