// Package kafka holds the launcher of a real Apache Kafka broker, run.sh, and
// the proof that our client works with it.
package kafka

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// TestBrokerTakesAndGivesBackARecord needs Java and the jars; without them it
// is skipped, or fails under MOTORPOOL_REQUIRE_KAFKA=1.
func TestBrokerTakesAndGivesBackARecord(t *testing.T) {
	if jars, _ := filepath.Glob("target/lib/kafka_*.jar"); len(jars) == 0 {
		if os.Getenv("MOTORPOOL_REQUIRE_KAFKA") == "1" {
			t.Fatal("no jars in target/lib")
		}
		t.Skip("no jars in target/lib: mvn -q dependency:copy-dependencies")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	port, controller := freePort(t), freePort(t)
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	cmd := exec.Command("./run.sh", t.TempDir(), strconv.Itoa(port), strconv.Itoa(controller))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	defer func() {
		_ = cmd.Process.Kill()
		<-gone
	}()

	client := &kafka.Client{Addr: kafka.TCP(addr), Transport: &kafka.Transport{}}
	create := &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{{
		Topic: "positions", NumPartitions: 2, ReplicationFactor: 1,
	}}}
	retry := time.NewTicker(100 * time.Millisecond)
	defer retry.Stop()
	for {
		resp, err := client.CreateTopics(ctx, create)
		if err == nil {
			err = resp.Errors["positions"]
		}
		if err == nil || errors.Is(err, kafka.TopicAlreadyExists) {
			break
		}
		select {
		case <-gone:
			t.Fatal("the broker ended")
		case <-ctx.Done():
			t.Fatalf("no topic: %v", err)
		case <-retry.C:
		}
	}

	w := &kafka.Writer{Addr: kafka.TCP(addr), Topic: "positions", RequiredAcks: kafka.RequireAll,
		BatchTimeout: time.Millisecond}
	defer w.Close()
	if err := w.WriteMessages(ctx, kafka.Message{Value: []byte("fix")}); err != nil {
		t.Fatal(err)
	}
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{addr}, GroupID: "pipeline", Topic: "positions",
		MaxWait: 100 * time.Millisecond})
	defer r.Close()
	m, err := r.ReadMessage(ctx)
	if err != nil || string(m.Value) != "fix" {
		t.Fatalf("read %q: %v", m.Value, err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
