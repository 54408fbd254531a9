import type { Tables } from '../platform/postgres/table-rules.ts'
import { DAY_MS } from '../platform/time.ts'
import { eraseDevices } from './erase.ts'
import { NETWORK_DAYS } from './seen-networks.ts'

export const IDENTIFICATION_TABLES = {
  visitor_networks: {
    key: ['visitor_id', 'network'],
    erasedWith: 'fingerprints',
    export: 'none',
    retention: { column: 'seen_at', ms: NETWORK_DAYS * DAY_MS },
  },
  // No browser keeps a cookie for longer, so any active device has used its fingerprint again by then.
  fingerprints: {
    key: ['fingerprint'],
    erase: eraseDevices,
    export: {},
    retention: { column: 'seen_at', ms: 400 * DAY_MS },
  },
} satisfies Tables
