package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// backupPlace says where backups are kept: a folder, or a bucket that speaks S3. It is the ClickHouse server that writes
// and reads there.
type backupPlace struct {
	Endpoint      string `help:"Address of the S3 server, such as https://s3.eu-central-1.amazonaws.com; Amazon's by default." placeholder:"URL"`
	AccessKey     string `help:"Access key of S3; without one the server's own role is used."`
	SecretKey     string `help:"Its secret; better in a file or the environment, as others see command lines."`
	SecretKeyFile string `help:"File whose first line is the secret." type:"path"`
}

// backupTarget is one place, ready to be named in SQL.
type backupTarget struct {
	name   string // as the operator says it, without a slash at its end
	folder string // empty for S3
	url    string // of S3
	access string
	secret string
}

func (p backupPlace) target(text string) (backupTarget, error) {
	t := backupTarget{name: strings.TrimRight(text, "/"), access: p.AccessKey, secret: p.SecretKey}
	bucket, isS3 := strings.CutPrefix(t.name, "s3://")
	if !isS3 {
		if strings.Contains(t.name, "://") {
			return t, fmt.Errorf("%q is neither a folder nor s3://bucket/prefix", text)
		}
		folder, err := filepath.Abs(text)
		t.name, t.folder = folder, folder
		return t, err
	}
	if p.SecretKeyFile != "" {
		if p.SecretKey != "" {
			return t, errors.New("--s3-secret-key and --s3-secret-key-file are both given")
		}
		text, err := os.ReadFile(p.SecretKeyFile)
		if err != nil {
			return t, fmt.Errorf("read the secret of S3: %w", err)
		}
		t.secret, _, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
	}
	if (t.access == "") != (t.secret == "") {
		return t, errors.New("an access key of S3 and its secret go together: --s3-access-key, --s3-secret-key-file")
	}
	t.url = t.name
	if p.Endpoint != "" {
		if _, err := url.ParseRequestURI(p.Endpoint); err != nil {
			return t, fmt.Errorf("--s3-endpoint: %w", err)
		}
		t.url = strings.TrimRight(p.Endpoint, "/") + "/" + bucket
	}
	return t, nil
}

// at is a place below the target as BACKUP and RESTORE want it. The server blots the secret out of what it logs and lists.
func (t backupTarget) at(parts ...string) string {
	below := strings.Join(parts, "/")
	switch {
	case t.folder != "":
		return "File(" + sqlText(filepath.Join(t.folder, filepath.FromSlash(below))) + ")"
	case t.access != "":
		return "S3(" + sqlText(t.url+"/"+below) + ", " + sqlText(t.access) + ", " + sqlText(t.secret) + ")"
	}
	return "S3(" + sqlText(t.url+"/"+below) + ")"
}

// upon is the setting that makes a backup build upon another, if one is named. That one is noted in the new one, and a
// secret must not be.
func (t backupTarget) upon(base, stage string) string {
	if base == "" {
		return ""
	}
	named := t
	named.access = ""
	setting := ", base_backup = " + named.at(base, stage)
	if t.access != "" {
		setting += ", use_same_s3_credentials_for_base_backup = 1"
	}
	return setting
}

// clean takes the secret out of an error.
func (t backupTarget) clean(err error) error {
	if err == nil || t.secret == "" || !strings.Contains(err.Error(), t.secret) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), t.secret, "[the secret]"))
}

// sqlText quotes a text for SQL, where no parameter may stand.
func sqlText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
