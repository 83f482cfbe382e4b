package parquet

import "encoding/binary"

// string gives the next one, which is valid until the one after.
func (v *values) string() ([]byte, error) {
	switch v.form {
	case fixedForm:
		return v.take(1)
	case stringForm:
		if len(v.data) < 4 {
			return nil, errValuesShort
		}
		n := binary.LittleEndian.Uint32(v.data)
		v.data = v.data[4:]
		return v.cut(n)
	}
	if len(v.suffix) < 4 {
		return nil, errValuesShort
	}
	n := binary.LittleEndian.Uint32(v.suffix)
	v.suffix = v.suffix[4:]
	tail, err := v.cut(n)
	if err != nil || v.form == lengthForm {
		return tail, err
	}
	if len(v.prefix) < 4 {
		return nil, errValuesShort
	}
	kept := binary.LittleEndian.Uint32(v.prefix)
	v.prefix = v.prefix[4:]
	if uint64(kept) > uint64(len(v.last)) {
		return nil, errText
	}
	v.last = append(v.last[:kept], tail...)
	return v.last, nil
}

func (v *values) cut(n uint32) ([]byte, error) {
	if uint64(n) > uint64(len(v.data)) {
		return nil, errText
	}
	s := v.data[:n]
	v.data = v.data[n:]
	return s, nil
}
