package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/shortline/shortline/control/internal/clicks/ingest/kafkasource"
)

// readOffsets stores how far ingest has come in each Kafka cluster.
func (f *Fleet) readOffsets(ctx context.Context, facts *facts) error {
	if len(f.Kafka) == 0 {
		fmt.Fprintln(f.Out, "KAFKA_BROKERS is not set: the backup does not say how far ingest has come.")
	}
	for _, cfg := range f.Kafka {
		o, err := kafkasource.ReadOffsets(ctx, cfg)
		switch {
		case err != nil && cfg.Region == "":
			return err
		case err != nil: // one region must not prevent the backup of all others
			fmt.Fprintf(f.Out, "Kafka of %s cannot be read, so a restore will read all that it still has: %v\n", cfg.Region, err)
		case cfg.Region == "":
			facts.Offsets = &o
		default:
			if facts.Regions == nil {
				facts.Regions = map[string]kafkasource.Offsets{}
			}
			facts.Regions[cfg.Region] = o
		}
	}
	return nil
}

// rewind makes each Kafka cluster deliver again what came after the backup. A region whose offsets are unknown delivers
// everything that it still has. Repeats are harmless. A cluster without the topic is new and has nothing to deliver.
func (f *Fleet) rewind(ctx context.Context, facts *facts) error {
	if len(f.Kafka) == 0 {
		fmt.Fprintln(f.Out, "KAFKA_BROKERS is not set: take the group of ingest back yourself to a time before the backup.")
	}
	var problems []error
	for _, cfg := range f.Kafka {
		offsets := facts.Regions[cfg.Region] // without partitions if it is unknown: all of the group go back to the beginning
		if cfg.Region == "" {
			if facts.Offsets == nil {
				fmt.Fprintln(f.Out,
					"The backup does not say how far ingest had come: take the group back yourself to a time before the backup.")
				continue
			}
			offsets = *facts.Offsets
		}
		// Kafka delivers all conversions again that it still has. A conversion has a key, so it counts once.
		conversions := cfg
		conversions.Kafka, conversions.Group = cfg.Kafka.ForConversions(), "conversions"
		if err := kafkasource.Rewind(ctx, conversions, kafkasource.Offsets{}); err != nil && !errors.Is(err, kafkasource.ErrNoTopic) {
			fmt.Fprintln(f.Out, "Take the group of conversions back yourself to a time before the backup:", err)
		}
		err := kafkasource.Rewind(ctx, cfg, offsets)
		switch {
		case errors.Is(err, kafkasource.ErrNoTopic):
			fmt.Fprintf(f.Out, "Kafka has no topic %s, so it has no clicks to deliver again. "+
				"The first process that needs the topic creates it, unless KAFKA_CREATE_TOPIC is false.\n", cfg.Kafka.FullTopic())
		case err != nil:
			if cfg.Region != "" {
				err = fmt.Errorf("KAFKA_REGIONS: %s: %w", cfg.Region, err)
			}
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}
