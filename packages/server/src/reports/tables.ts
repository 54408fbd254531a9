import { CLAIM } from '../platform/postgres/lease.ts'
import type { Tables } from '../platform/postgres/table-rules.ts'
import { shareTokenPlace } from './share-links.ts'

export const REPORT_TABLES = {
  reports: { key: ['report_id'], export: {} },
  dashboards: { key: ['dashboard_id'], export: {} },
  dashboard_subscriptions: { key: ['dashboard_id', 'user_id'], export: { without: CLAIM } },
  share_links: {
    key: ['link_id'],
    export: { without: ['token_hash'] },
    sealed: { token_sealed: ({ tenant_id = '', link_id = '' }) => shareTokenPlace(tenant_id, link_id) },
  },
} satisfies Tables
