package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// tracing wraps the interface's handler so that every request is a trace, if there is somewhere to send traces to; nil
// otherwise. flush sends what is left.
func (s *settings) tracing(ctx context.Context) (wrap func(http.Handler) http.Handler, flush func(), err error) {
	if s.OTLPEndpoint == "" {
		return nil, func() {}, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(s.OTLPEndpoint))
	if err != nil {
		return nil, nil, fmt.Errorf("--otlp-endpoint: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resource.NewSchemaless(
		attribute.String("service.name", "motorpool"), attribute.String("service.version", version))))
	wrap = func(h http.Handler) http.Handler {
		return otelhttp.NewHandler(h, "http", otelhttp.WithTracerProvider(provider))
	}
	flush = func() {
		fresh, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = provider.Shutdown(fresh)
	}
	return wrap, flush, nil
}
