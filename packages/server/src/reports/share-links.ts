import { randomBytes } from 'node:crypto'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { tokenHash } from '../platform/crypto/tokens.ts'
import { notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'

const TOKEN_BYTES = 24

/** What a link shows. */
export type Shared = { report_id: string } | { dashboard_id: string }

/** A link of which anybody can read the figures. */
export interface ShareLink {
  token: string
  createdAt: Date
}

/** Where the dashboard shows what a link is about. */
export function urlOfShare(publicUrl: string, token: string): string {
  return `${publicUrl}/shared/${token}`
}

/** The place that a sealed token is bound to. */
export function shareTokenPlace(tenantId: string, linkId: string): string {
  return `share_links/${tenantId}/${linkId}/token`
}

/**
 * Creates the link of a report or a dashboard, or returns the one that there is: it stays the same until it is deleted. The caller
 * holds the lock of `lockTiles`, so that what is shared exists and gets only one.
 */
export async function createShareLink(
  tx: Tenant,
  secrets: SecretBox,
  shared: Shared,
  now: Date,
): Promise<ShareLink & { isNew: boolean }> {
  const known = await linksOf(tx, shared).executeTakeFirst()
  if (known) {
    const token = secrets.open(known.token_sealed, shareTokenPlace(tx.id, known.link_id))
    return { token, createdAt: known.created_at, isNew: false }
  }
  const [linkId, token] = [newId(), randomBytes(TOKEN_BYTES).toString('base64url')]
  await tx.db
    .insertInto('share_links')
    .values({
      link_id: linkId,
      ...shared,
      token_hash: tokenHash(token),
      token_sealed: secrets.seal(token, shareTokenPlace(tx.id, linkId)),
      created_at: now,
    })
    .execute()
  return { token, createdAt: now, isNew: true }
}

/** Deletes the link of a report or a dashboard. From then on it shows nothing. @throws ServiceError 404 without a link. */
export async function deleteShareLink(tx: Tenant, shared: Shared): Promise<void> {
  const link = await linksOf(tx, shared).executeTakeFirst()
  if (!link) throw notFound('shared link')
  await tx.db.deleteFrom('share_links').where('link_id', '=', link.link_id).execute()
}

/** The tenant of a token and what it shows; null for a token that nobody has, or that was deleted. */
export async function findShareLink(
  database: Database,
  token: string,
): Promise<{ tenantId: string; linkId: string; shared: Shared } | null> {
  const row = await database
    .selectFrom('share_links')
    .select(['tenant_id', 'link_id', 'report_id', 'dashboard_id'])
    .where('token_hash', '=', tokenHash(token))
    .executeTakeFirst()
  if (!row) return null
  const { tenant_id: tenantId, link_id: linkId, report_id, dashboard_id } = row
  if (report_id !== null) return { tenantId, linkId, shared: { report_id } }
  return dashboard_id === null ? null : { tenantId, linkId, shared: { dashboard_id } }
}

function linksOf({ db }: Tenant, shared: Shared) {
  const links = db.selectFrom('share_links').select(['link_id', 'token_sealed', 'created_at'])
  return 'report_id' in shared
    ? links.where('report_id', '=', shared.report_id)
    : links.where('dashboard_id', '=', shared.dashboard_id)
}
