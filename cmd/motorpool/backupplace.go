package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/motorpool/fleet/deploy/embedded"
)

// backupPlace says where backups are kept: a folder, or a bucket that speaks S3. It is the ClickHouse server that
// writes and reads there.
type backupPlace struct {
	Endpoint      string `help:"Address of the S3 server, such as https://s3.eu-central-1.amazonaws.com; Amazon's by default." placeholder:"URL" env:"MOTORPOOL_S3_ENDPOINT"`
	AccessKey     string `help:"Access key of S3; without one the server's own role is used." env:"MOTORPOOL_S3_ACCESS_KEY"`
	SecretKey     string `help:"Its secret; better in a file or the environment, as others see command lines." env:"MOTORPOOL_S3_SECRET_KEY"`
	SecretKeyFile string `help:"File whose first line is the secret." type:"path" env:"MOTORPOOL_S3_SECRET_KEY_FILE"`
}

// backupTarget is one place, ready to be named in SQL.
type backupTarget struct {
	name   string // as the operator says it, without a slash at its end
	folder string // empty for S3
	url    string // of S3
	access string
	secret string
	disk   string // by which an embedded ClickHouse knows the bucket; empty for a server
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
	name, prefix, _ := strings.Cut(bucket, "/")
	t.url = strings.TrimRight("https://"+name+".s3.amazonaws.com/"+prefix, "/")
	if p.Endpoint != "" {
		if _, err := url.ParseRequestURI(p.Endpoint); err != nil {
			return t, fmt.Errorf("--s3-endpoint: %w", err)
		}
		t.url = strings.TrimRight(p.Endpoint, "/") + "/" + bucket
	}
	return t, nil
}

// at is a place below the target as BACKUP and RESTORE want it. The server blots the secret out of what it
// logs and lists.
func (t backupTarget) at(parts ...string) string {
	below := strings.Join(parts, "/")
	switch {
	case t.folder != "":
		return "File(" + sqlText(filepath.Join(t.folder, filepath.FromSlash(below))) + ")"
	case t.disk != "":
		return "Disk(" + sqlText(t.disk) + ", " + sqlText(below) + ")"
	case t.access != "":
		return "S3(" + sqlText(t.url+"/"+below) + ", " + sqlText(t.access) + ", " + sqlText(t.secret) + ")"
	}
	return "S3(" + sqlText(t.url+"/"+below) + ")"
}

// mount makes a bucket known to an embedded ClickHouse, which has no other way to write to one. The table by which that
// is done goes at once, with the file that held the secret; the disk stays known until the engine ends.
func (t *backupTarget) mount(ctx context.Context, db driver.Conn) error {
	if t.folder != "" {
		return nil
	}
	sum := sha256.Sum256([]byte(t.url + "\x00" + t.access + "\x00" + t.secret))
	t.disk = embedded.BackupDisks[int(sum[0])%len(embedded.BackupDisks)]
	keys := "use_environment_credentials = 1"
	if t.access != "" {
		keys = "access_key_id = " + sqlText(t.access) + ", secret_access_key = " + sqlText(t.secret)
	}
	drop := "DROP TABLE IF EXISTS backup_disk SYNC"
	for _, statement := range []string{drop,
		"CREATE TABLE backup_disk (nothing UInt8) ENGINE = MergeTree ORDER BY nothing SETTINGS " +
			"disk = disk(name = " + sqlText(t.disk) + ", type = 's3_plain', endpoint = " + sqlText(t.url+"/") + ", " +
			keys + ")", drop} {
		if err := db.Exec(ctx, statement); err != nil {
			return fmt.Errorf("reach %s: %w", t.url, err)
		}
	}
	return nil
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
	if t.access != "" && t.disk == "" {
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
