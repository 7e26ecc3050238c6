package mailtest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"regexp"
	"strings"
)

// Message is a received e-mail.
type Message struct {
	From, To string // of the envelope
	Header   mail.Header
	Subject  string            // decoded
	Text     string            // the text part, decoded, with \n at the end of lines
	HTML     string            // the HTML part, likewise
	Inline   map[string][]byte // pictures by their content id
	Link     string            // the first link in the text part; "" if there is none
	TLS      bool              // whether the connection was encrypted
	User     string            // who had signed in
	Helo     string            // the name that the client gave
	Raw      []byte
}

var link = regexp.MustCompile(`https?://[^\s<>"]+`)

// Parse parses an e-mail as the server stores it. It is an error if there is not exactly one text and one HTML part.
func Parse(raw []byte) (m Message, err error) {
	parsed, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return m, fmt.Errorf("parse e-mail: %w", err)
	}
	m = Message{Header: parsed.Header, Raw: raw}
	m.From = strings.Trim(m.Header.Get("Return-Path"), "<>")
	m.To, m.User, m.Helo = m.Header.Get("Delivered-To"), m.Header.Get("X-Test-User"), m.Header.Get("X-Test-Helo")
	m.TLS = m.Header.Get("X-Test-TLS") == "true"
	if m.Subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		return m, fmt.Errorf("decode subject: %w", err)
	}
	body, boundary, err := m.alternatives(parsed.Body)
	if err != nil {
		return m, err
	}
	parts := multipart.NewReader(body, boundary)
	for {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return m, fmt.Errorf("read parts: %w", err)
		}
		text, err := decode(p)
		if err != nil {
			return m, err
		}
		to := &m.Text
		switch kind, params, _ := mime.ParseMediaType(p.Header.Get("Content-Type")); {
		case !strings.EqualFold(params["charset"], "utf-8"):
			return m, fmt.Errorf("charset %q", params["charset"])
		case kind == "text/html":
			to = &m.HTML
		case kind != "text/plain":
			return m, fmt.Errorf("a part of type %q", kind)
		}
		if *to != "" {
			return m, errors.New("two parts of one type")
		}
		*to = text
	}
	if m.Text == "" || m.HTML == "" {
		return m, errors.New("a part is missing")
	}
	m.Link = link.FindString(m.Text)
	return m, nil
}

// alternatives returns the body that has the text and the HTML part. It reads the pictures beside them.
func (m *Message) alternatives(body io.Reader) (io.Reader, string, error) {
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err == nil && kind == "multipart/related" {
		related := multipart.NewReader(body, params["boundary"])
		first, err := related.NextRawPart()
		if err != nil {
			return nil, "", fmt.Errorf("read parts: %w", err)
		}
		kind, params, _ = mime.ParseMediaType(first.Header.Get("Content-Type"))
		inside, err := io.ReadAll(first)
		if err != nil {
			return nil, "", fmt.Errorf("read parts: %w", err)
		}
		m.Inline = map[string][]byte{}
		for {
			p, err := related.NextRawPart()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, "", fmt.Errorf("read parts: %w", err)
			}
			content, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, p))
			if err != nil {
				return nil, "", fmt.Errorf("decode picture: %w", err)
			}
			m.Inline[strings.Trim(p.Header.Get("Content-ID"), "<>")] = content
		}
		body = bytes.NewReader(inside)
	}
	if err != nil || kind != "multipart/alternative" {
		return nil, "", fmt.Errorf("content type %q, %w", m.Header.Get("Content-Type"), err)
	}
	return body, params["boundary"], nil
}

func decode(p *multipart.Part) (string, error) {
	var body io.Reader = p
	switch encoding := p.Header.Get("Content-Transfer-Encoding"); encoding {
	case "quoted-printable":
		body = quotedprintable.NewReader(p)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, p)
	case "7bit", "8bit", "":
	default:
		return "", fmt.Errorf("transfer encoding %q", encoding)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return "", fmt.Errorf("decode part: %w", err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n"), nil
}
