CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- A domain, or the address at one, with the labels in punycode (RFC 3492) as people write them: people search for these.
CREATE FUNCTION readable_domain(address text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  place int := strpos(reverse(address), '@');
  prefix text := CASE place WHEN 0 THEN '' ELSE left(address, length(address) - place + 1) END;
  label text;
  readable text[] := '{}';
  points int[];
  code text;
  n int; i int; bias int; delta int; old_i int; weight int; k int; digit int; threshold int; size int;
BEGIN
  FOREACH label IN ARRAY string_to_array(substr(address, length(prefix) + 1), '.') LOOP
    IF label LIKE 'xn--%' THEN
      BEGIN
        code := substr(label, 5);
        place := strpos(reverse(code), '-');
        points := CASE place WHEN 0 THEN '{}' ELSE
          array(SELECT ascii(each) FROM string_to_table(left(code, length(code) - place), NULL) AS each) END;
        code := CASE place WHEN 0 THEN code ELSE right(code, place - 1) END;
        n := 128; i := 0; bias := 72;
        WHILE code <> '' LOOP
          old_i := i; weight := 1; k := 36;
          LOOP
            digit := strpos('abcdefghijklmnopqrstuvwxyz0123456789', left(code, 1)) - 1;
            code := substr(code, 2);
            i := i + digit * weight;
            threshold := least(26, greatest(1, k - bias));
            EXIT WHEN digit < threshold;
            weight := weight * (36 - threshold);
            k := k + 36;
          END LOOP;
          size := cardinality(points) + 1;
          delta := CASE WHEN old_i = 0 THEN (i - old_i) / 700 ELSE (i - old_i) / 2 END;
          delta := delta + delta / size;
          k := 0;
          WHILE delta > 455 LOOP
            delta := delta / 35;
            k := k + 36;
          END LOOP;
          bias := k + 36 * delta / (delta + 38);
          n := n + i / size;
          i := i % size;
          points := points[1:i] || n || points[i + 1:];
          i := i + 1;
        END LOOP;
        label := (SELECT string_agg(chr(point), '' ORDER BY position)
          FROM unnest(points) WITH ORDINALITY AS decoded (point, position));
      EXCEPTION WHEN others THEN
        -- Not punycode: it stays as it is.
        NULL;
      END;
    END IF;
    readable := readable || label;
  END LOOP;
  RETURN prefix || array_to_string(readable, '.');
END $$;

-- Folds case and spelling for searches, as ClickHouse does (platform/clickhouse/folded-text.ts). The listed letters are
-- those for which lower case is not enough, or differs between locales; a combining accent counts as part of its letter.
CREATE FUNCTION fold_text(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN replace(replace(translate(lower(normalize(value, NFC)), 'İẞςıſ', 'ißσis'), 'ß', 'ss'), E'i\u0307', 'i');

-- Folds accents too: AI agents see none of the spellings of a name.
CREATE FUNCTION plain_text(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN octet_length(value) = length(value) THEN translate(lower(value), 'ı', 'i')
    ELSE regexp_replace(normalize(fold_text(value), NFKD), '[\u0300-\u036f]', '', 'g') END;

-- A text without the words of another: whole words, and parts of texts in scripts without spaces between words. To compile a
-- regular expression costs more than everything else here, so it has only the words that the text contains.
CREATE FUNCTION without_words(value text, words text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
  DECLARE
    shown text := value;
    spaced text := '';
    word text;
  BEGIN
    IF octet_length(words) > length(words) THEN
      FOREACH word IN ARRAY regexp_split_to_array(words, '[^\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff]+') LOOP
        shown := replace(shown, word, E'\n');
      END LOOP;
    END IF;
    FOREACH word IN ARRAY regexp_split_to_array(words, '[^[:alnum:]]+') LOOP
      IF word <> '' AND strpos(shown, word) > 0 THEN spaced := spaced || '|' || word; END IF;
    END LOOP;
    IF spaced = '' THEN RETURN shown; END IF;
    RETURN regexp_replace(
      shown, '(^|[^[:alnum:]])(' || substr(spaced, 2) || ')(?=[^[:alnum:]]|$)', E'\n', 'g');
  END $$;

-- What AI agents see of a text, for searches that must not find hidden values by their parts: as plain_text, without the
-- words of the given names, and without email addresses, phone numbers, IP addresses, encoded words and parameters of URLs.
CREATE FUNCTION visible_text(value text, names text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN without_words(regexp_replace(plain_text(value),
    '((?:^/|://)[^\s?#]*)[?#]\S*|\?\S*=\S*|\S*(?:@|%[0-9a-f]{2})\S*|[+(]?\d[\d\s()./-]{5,}\d|(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}',
    E'\\1\n', 'g'), plain_text(names));

-- Whether AI agents see all of a text, names aside; false for some that they do. Most texts are not searched further.
CREATE FUNCTION is_all_visible(value text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN value !~ '[@%?#:]|\d[\d\s()./-]{5,}\d';

-- Whether a search contains a whole value, of which a word of the search is a part.
CREATE FUNCTION is_whole_in(value text, search text, word text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN coalesce(
    strpos(' ' || fold_text(search) || ' ', ' ' || regexp_replace(btrim(fold_text(value)), '\s+', ' ', 'g') || ' ') > 0
    AND strpos(' ' || regexp_replace(btrim(fold_text(value)), '\s+', ' ', 'g') || ' ', ' ' || fold_text(word) || ' ') > 0,
    false);
