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
