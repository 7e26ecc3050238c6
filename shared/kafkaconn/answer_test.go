package kafkaconn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/consumer"

	"github.com/shortline/shortline/shared/testing/testkit"
)

// fill sets every field: lists get two elements; strings and bytes get some letters.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.String:
		v.SetString("topic")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	}
}

// example is a complete response as kafka-go writes it, without length and correlation id. Responses to members have
// assignments.
func example(t testing.TB, key protocol.ApiKey, version int16) []byte {
	msg := reflect.New(answers[key])
	fill(msg.Elem())
	if inner := msg.Elem().FieldByName("Assignments"); inner.IsValid() {
		data, err := protocol.Marshal(consumer.MaxVersionSupported, consumer.Assignment{
			Version: 1, AssignedPartitions: []consumer.TopicPartition{{Topic: "clicks", Partitions: []int32{0, 1, 2}}},
			UserData: []byte("u"),
		})
		testkit.Must(t, err)
		inner.SetBytes(data)
	}
	var out bytes.Buffer
	testkit.Must(t, protocol.WriteResponse(&out, version, 1, msg.Interface().(protocol.Message)))
	return out.Bytes()[8:]
}

func versions(key protocol.ApiKey) (list []int16) {
	for v := key.MinVersion(); v <= key.MaxVersion(); v++ {
		list = append(list, v)
	}
	return list
}

// decode returns what kafka-go makes of a response.
func decode(key protocol.ApiKey, version int16, data []byte) error {
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(data)))
	_, _, err := protocol.ReadResponse(bytes.NewReader(append(append(frame, 0, 0, 0, 1), data...)), key, version)
	return err
}

// Complete responses of every kind and version pass. Incomplete ones do not. Damaged ones that pass do kafka-go no
// harm.
func TestCheckAnswer(t *testing.T) {
	t.Parallel()
	damaged, refused := 0, 0
	for key := range answers {
		for _, version := range versions(key) {
			whole := example(t, key, version)
			if err := checkAnswer(whole, key, version); err != nil {
				t.Fatalf("%v, version %d: %v: %q", key, version, err, whole)
			}
			if err := checkAnswer(append(slices.Clone(whole), 0), key, version); err != nil {
				t.Errorf("%v, version %d, with a byte more than the library knows: %v", key, version, err)
			}
			for n := range whole {
				if err := checkAnswer(whole[:n], key, version); err == nil {
					t.Errorf("%v, version %d: %d bytes of %d are let through", key, version, n, len(whole))
				}
			}
			for bit := range 8 * len(whole) {
				data := slices.Clone(whole)
				data[bit/8] ^= 1 << (bit % 8)
				if data[rand.IntN(len(data))] ^= byte(rand.IntN(256)); checkAnswer(data, key, version) != nil {
					refused++
				} else if err := decode(key, version, data); err != nil {
					t.Errorf("%v, version %d: %q is let through: %v", key, version, data, err)
				}
				damaged++
			}
		}
	}
	if err := checkAnswer(bytes.ReplaceAll(example(t, protocol.Metadata, 1), []byte("topic"), []byte("a,b.c")), protocol.Metadata,
		1); !errors.Is(err, errHost) {
		t.Errorf("a host with a comma: %v", err)
	}
	// The list in an assignment is nested in the bytes of a response.
	bad := bytes.Replace(example(t, protocol.SyncGroup, 0), []byte("\x00\x00\x00\x01\x00\x06clicks"),
		[]byte("\x40\x00\x00\x01\x00\x06clicks"), 1)
	if err := checkAnswer(bad, protocol.SyncGroup, 0); err == nil {
		t.Error("an assignment of a thousand million topics is let through")
	}
	if refused < damaged/20 || refused == damaged {
		t.Errorf("%d of %d damaged answers were refused", refused, damaged)
	}
	if err := checkAnswer(nil, protocol.DeleteTopics, 0); err == nil || !strings.Contains(err.Error(), "DeleteTopics") {
		t.Errorf("an answer to what is never asked: %v", err)
	}
}

// kafka-go decodes whatever passes, and allocates no more memory than the response has.
func FuzzCheckAnswer(f *testing.F) {
	for key := range answers {
		for _, version := range versions(key) {
			f.Add(int16(key), version, example(f, key, version))
		}
	}
	f.Fuzz(func(t *testing.T, k, version int16, data []byte) {
		key := protocol.ApiKey(k)
		if _, ok := answers[key]; !ok || !slices.Contains(versions(key), version) || checkAnswer(data, key, version) != nil {
			return
		}
		if err := decode(key, version, data); err != nil {
			t.Errorf("%v, version %d: %q is let through: %v", key, version, data, err)
		}
	})
}
