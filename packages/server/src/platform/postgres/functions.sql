CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Folds case and spelling for searches, as ClickHouse does (platform/clickhouse/folded-text.ts). The listed letters are
-- those for which lower case is not enough, or differs between locales; a combining accent counts as part of its letter.
CREATE FUNCTION fold_text(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN replace(replace(translate(lower(normalize(value, NFC)), 'İẞςıſ', 'ißσis'), 'ß', 'ss'), E'i\u0307', 'i');
