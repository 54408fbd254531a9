const TYPE = 'Map(LowCardinality(String), String)'
const VALUES_OF_DATA = `CAST(JSONExtractKeysAndValuesRaw(data), '${TYPE}')`

/**
 * The values of an event's `data` by key, as JSON texts. ClickHouse divides the keys among buckets, so that a query reads
 * a few keys instead of the whole text: docs/decisions/0044-event-properties.md.
 */
export const DATA_VALUES_COLUMN = `data_values ${TYPE} MATERIALIZED ${VALUES_OF_DATA} CODEC(ZSTD(1))`

/** The settings of the buckets: twice as many as an event has keys on average. New parts are small, and have none. */
export const DATA_VALUES_SETTINGS = {
  map_serialization_version: "'with_buckets'",
  map_serialization_version_for_zero_level_parts: "'basic'",
  map_buckets_min_avg_size: 0,
  map_buckets_strategy: "'linear'",
  map_buckets_coefficient: 2,
  max_buckets_in_map: 32,
} as const

/**
 * The beginning of a query that reads a projection without that column: it parses the text instead, of the few events of
 * an owner.
 */
export const WITH_DATA_VALUES = `WITH ${VALUES_OF_DATA} AS data_values `
