package auditexport

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/leodido/go-syslog/v4/rfc5424"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/lib/receiver"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/config"
)

// source is what is sent of a row, and by whom.
type source struct {
	version   string
	arguments bool
}

// json is a row as it is sent.
func (s source) json(r audit.Row) []byte {
	if !s.arguments {
		r.Arguments = ""
	}
	return rawjson.MustEncode(r)
}

// webhook posts batches of JSON, signed as Standard Webhooks says (https://www.standardwebhooks.com).
type webhook struct {
	source
	url    string
	secret config.KeySource
	client *http.Client
}

func (w *webhook) send(ctx context.Context, rows []audit.Row) error {
	secret, err := w.secret.Read()
	if err != nil {
		return err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < 16 {
		return errors.New(w.secret.Place() + " is no secret: whsec_ and at least 16 bytes as base64")
	}
	lines := make([][]byte, len(rows))
	for i := range rows {
		lines[i] = w.json(rows[i])
	}
	body := fmt.Appendf(nil, `{"host":%s,"version":%s,"entries":[%s]}`, rawjson.MustEncode(receiver.Hostname()),
		rawjson.MustEncode(w.version), bytes.Join(lines, []byte(",")))
	// What is sent again has the same id: it is that of its rows.
	id := fmt.Sprintf("audit-%d-%s", rows[0].N, rows[len(rows)-1].Hash)
	at := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	_, err = receiver.Post(ctx, w.client, w.url, body, http.Header{"Content-Type": {"application/json"},
		"Webhook-Id": {id}, "Webhook-Timestamp": {at},
		"Webhook-Signature": {"v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))}})
	return err
}

// otlp posts OpenTelemetry logs as OTLP/HTTP does, in binary protobuf. LogsData has the encoding of
// ExportLogsServiceRequest, whose package would bring gRPC.
type otlp struct {
	source
	url    string
	token  config.KeySource
	client *http.Client
}

func (o *otlp) send(ctx context.Context, rows []audit.Row) error {
	header := http.Header{"Content-Type": {"application/x-protobuf"}}
	if o.token != (config.KeySource{}) {
		token, err := o.token.Read()
		if err != nil {
			return err
		}
		header.Set("Authorization", "Bearer "+token)
	}
	body, err := proto.Marshal(o.data(rows))
	if err != nil {
		return err
	}
	answer, err := receiver.Post(ctx, o.client, o.url, body, header)
	if err != nil {
		return err
	}
	if n := rejected(answer); n > 0 {
		return &receiver.Refusal{Why: fmt.Sprintf("it rejected %d of %d log records", n, len(rows)),
			Count: min(n, len(rows))}
	}
	return nil
}

// rejected is how many log records an answer refuses: ExportLogsServiceResponse.partial_success.rejected_log_records.
// Which ones it does not say, and OTLP forbids to send them again. What is no such answer refuses none.
func rejected(answer []byte) int {
	const member = 1 // both have this number
	partial := field(answer, member, protowire.BytesType)
	inner, n := protowire.ConsumeBytes(partial)
	if n < 0 {
		return 0
	}
	count, n := protowire.ConsumeVarint(field(inner, member, protowire.VarintType))
	if n < 0 || count > batch {
		return 0
	}
	return int(count)
}

// field is what begins with the value of a field; nil: the message has none, or is broken.
func field(message []byte, number protowire.Number, kind protowire.Type) []byte {
	for len(message) > 0 {
		found, is, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		message = message[n:]
		if found == number && is == kind {
			return message
		}
		if n = protowire.ConsumeFieldValue(found, is, message); n < 0 {
			return nil
		}
		message = message[n:]
	}
	return nil
}

func (o *otlp) data(rows []audit.Row) *logs.LogsData {
	records := make([]*logs.LogRecord, len(rows))
	for i, r := range rows {
		body := o.json(r)
		records[i] = &logs.LogRecord{
			TimeUnixNano: uint64(r.At.UnixNano()), ObservedTimeUnixNano: uint64(r.At.UnixNano()),
			SeverityNumber: logs.SeverityNumber_SEVERITY_NUMBER_INFO, EventName: "tabrelay.audit." + r.Kind,
			Body: receiver.TextValue(string(body)), Attributes: attributes(body),
		}
	}
	return &logs.LogsData{ResourceLogs: []*logs.ResourceLogs{{
		Resource: receiver.Resource(o.version),
		ScopeLogs: []*logs.ScopeLogs{{
			Scope: &common.InstrumentationScope{Name: "tabrelay/audit"}, LogRecords: records,
		}},
	}}}
}

// attributes are the fields of a row.
func attributes(row []byte) (list []*common.KeyValue) {
	members, _ := rawjson.Members(row)
	for _, m := range members {
		value := &common.AnyValue{}
		if n, err := strconv.ParseInt(string(m.Value), 10, 64); err == nil {
			value.Value = &common.AnyValue_IntValue{IntValue: n}
		} else {
			plain, _ := rawjson.Text(m.Value)
			value = receiver.TextValue(plain)
		}
		list = append(list, &common.KeyValue{Key: "tabrelay." + m.Name, Value: value})
	}
	return list
}

// priority is that of the facility for audits, and of the severity for information.
const priority = 13*8 + 6

// syslog sends each row as a message of RFC 5424, over a connection for each batch.
type syslog struct {
	source
	address string
}

func (s *syslog) send(ctx context.Context, rows []audit.Row) (err error) {
	u, err := url.Parse(s.address)
	if err != nil {
		return err
	}
	conn, err := dial(ctx, u)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })() // it ends a write that waits
	stream := u.Scheme == "tcp" || u.Scheme == "tls"
	for _, r := range rows {
		message, err := s.message(r)
		if err != nil {
			return err
		}
		if stream { // RFC 6587: the length before each message
			message = fmt.Sprintf("%d %s", len(message), message)
		}
		if _, err := io.WriteString(conn, message); err != nil {
			return err
		}
	}
	return nil
}

func (s *syslog) message(r audit.Row) (string, error) {
	m := &rfc5424.SyslogMessage{}
	m.SetPriority(priority).SetVersion(1).SetTimestamp(r.At.Format("2006-01-02T15:04:05.000000Z07:00")).
		SetHostname(receiver.Hostname()).SetAppname("tabrelay").SetProcID(strconv.Itoa(os.Getpid())).SetMsgID(r.Kind).
		SetMessage(string(s.json(r)))
	return m.String()
}

func dial(ctx context.Context, u *url.URL) (net.Conn, error) {
	var d net.Dialer
	switch u.Scheme {
	case "tls":
		secure := tls.Dialer{NetDialer: &d, Config: &tls.Config{MinVersion: tls.VersionTLS12}}
		return secure.DialContext(ctx, "tcp", u.Host)
	case "unix":
		if conn, err := d.DialContext(ctx, "unixgram", u.Path); err == nil {
			return conn, nil
		}
		return d.DialContext(ctx, "unix", u.Path)
	}
	return d.DialContext(ctx, u.Scheme, u.Host)
}
