CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Folds case and spelling for searches, as ClickHouse does (platform/clickhouse/folded-text.ts). The listed letters are
-- those for which lower case is not enough, or differs between locales; a combining accent counts as part of its letter.
CREATE FUNCTION fold_text(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN replace(replace(translate(lower(normalize(value, NFC)), 'İẞςıſ', 'ißσis'), 'ß', 'ss'), E'i\u0307', 'i');

-- What AI agents see of a folded text, for searches that must not find hidden values by their parts: without email addresses
-- and phone numbers, and without the given values as words, such as the contact's names.
CREATE FUNCTION visible_text(value text, hidden text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
  DECLARE
    shown text := regexp_replace(fold_text(value), '\S*(@|%40)\S*|[+(]?\d[\d\s().-]{5,}\d', E'\n', 'g');
    part text;
  BEGIN
    FOREACH part IN ARRAY hidden LOOP
      CONTINUE WHEN coalesce(btrim(part), '') = '';
      shown := regexp_replace(
        shown, '(^|\W)' || regexp_replace(fold_text(btrim(part)), '([^[:alnum:]\s])', '\\\1', 'g') || '(?=\W|$)', E'\n', 'g');
    END LOOP;
    RETURN shown;
  END $$;

-- Whether a search contains a whole value, of which a word of the search is a part.
CREATE FUNCTION is_whole_in(value text, search text, word text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN coalesce(
    strpos(' ' || fold_text(search) || ' ', ' ' || regexp_replace(btrim(fold_text(value)), '\s+', ' ', 'g') || ' ') > 0
    AND strpos(' ' || regexp_replace(btrim(fold_text(value)), '\s+', ' ', 'g') || ' ', ' ' || fold_text(word) || ' ') > 0,
    false);
