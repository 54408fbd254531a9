import type { VisitorStatements } from '../../journal/flush-queries.ts'

/**
 * ON CONFLICT waits for any transaction that is changing the existing row, so known visitors must be excluded. A visitor
 * that another process is adding is neither inserted nor known here, so the flush is repeated and sees its row.
 */
const ADD = `INSERT INTO visitors
  (tenant_id, visitor_id, created_at, first_seen_at, first_page_at, first_url, first_referrer)
  SELECT tenant_id, visitor_id, sent_at, first_seen_at, first_page_at, first_url, first_referrer FROM sent
  WHERE NOT EXISTS (SELECT FROM visitors AS known
    WHERE known.tenant_id = sent.tenant_id AND known.visitor_id = sent.visitor_id)
  ORDER BY 1, 2 ON CONFLICT DO NOTHING RETURNING 1`

/**
 * An event that arrives late may be the earliest. Skips visitors that are being identified: a flush must not wait for
 * one tenant's transaction.
 */
const BEGIN = `UPDATE visitors SET first_seen_at = least(visitors.first_seen_at, earlier.first_seen_at),
    first_page_at = CASE WHEN earlier.has_page THEN earlier.first_page_at ELSE visitors.first_page_at END,
    first_url = CASE WHEN earlier.has_page THEN earlier.first_url ELSE visitors.first_url END,
    first_referrer = CASE WHEN earlier.has_page THEN earlier.first_referrer ELSE visitors.first_referrer END
  FROM (
    SELECT sent.*, sent.first_page_at < coalesce(visitor.first_page_at, 'infinity') AS has_page
    FROM sent JOIN visitors AS visitor ON visitor.tenant_id = sent.tenant_id AND visitor.visitor_id = sent.visitor_id
    WHERE visitor.contact_id IS NULL AND (sent.first_seen_at < coalesce(visitor.first_seen_at, 'infinity')
      OR sent.first_page_at < coalesce(visitor.first_page_at, 'infinity'))
    FOR NO KEY UPDATE OF visitor SKIP LOCKED
  ) AS earlier
  WHERE visitors.tenant_id = earlier.tenant_id AND visitors.visitor_id = earlier.visitor_id`

const UNCHANGED = `SELECT 1
  FROM sent JOIN visitors ON visitors.tenant_id = sent.tenant_id AND visitors.visitor_id = sent.visitor_id
    AND visitors.contact_id IS NOT DISTINCT FROM sent.contact_id AND visitors.episode = sent.episode`

const READ = `SELECT tenant_id, visitor_id, contact_id, episode FROM visitors
  WHERE (tenant_id, visitor_id) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`

/** The visitors of a flush: see the journal's `VisitorStatements`. */
export const visitorStatements: VisitorStatements = { add: ADD, begin: BEGIN, unchanged: UNCHANGED, read: READ }
