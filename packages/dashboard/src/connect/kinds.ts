import {
  type Icon,
  IconAddressBook,
  IconArrowsExchange,
  IconBrandNextjs,
  IconBrandNodejs,
  IconBrandPython,
  IconBrandWordpress,
  IconMail,
  IconRefresh,
  IconRobot,
  IconWebhook,
  IconWorld,
} from '@tabler/icons-react'
import type { Role } from '../session/session.ts'

/** What shows that a connection works. */
export type Proof =
  | { by: 'tracker' }
  /**
   * The key of the guide, by its name, was used. Where that counts too: an application that a person connected was, or
   * a connection of a connector works.
   */
  | { by: 'key'; name: string; orApp?: boolean; orConnector?: string }
  /** A write key of any source was used. */
  | { by: 'write-key' }
  /** A connected system was read, and can still be. */
  | { by: 'connection' }
  | { by: 'mailbox' }
  /** A delivery was accepted, and the latest did not all fail. */
  | { by: 'webhook' }

export interface Kind {
  icon: Icon
  proof: Proof
  /** Who can follow the guide. */
  role: Role
}

/** What can be connected, by the name in the URL. */
export const KINDS = {
  website: { icon: IconWorld, proof: { by: 'tracker' }, role: 'viewer' },
  nextjs: { icon: IconBrandNextjs, proof: { by: 'tracker' }, role: 'viewer' },
  wordpress: { icon: IconBrandWordpress, proof: { by: 'tracker' }, role: 'viewer' },
  node: { icon: IconBrandNodejs, proof: { by: 'key', name: 'Node server' }, role: 'admin' },
  python: { icon: IconBrandPython, proof: { by: 'key', name: 'Python server' }, role: 'admin' },
  segment: { icon: IconArrowsExchange, proof: { by: 'write-key' }, role: 'viewer' },
  hubspot: { icon: IconAddressBook, proof: { by: 'key', name: 'HubSpot sync', orConnector: 'hubspot' }, role: 'admin' },
  systems: { icon: IconRefresh, proof: { by: 'connection' }, role: 'viewer' },
  mailbox: { icon: IconMail, proof: { by: 'mailbox' }, role: 'viewer' },
  webhooks: { icon: IconWebhook, proof: { by: 'webhook' }, role: 'viewer' },
  mcp: { icon: IconRobot, proof: { by: 'key', name: 'AI agent', orApp: true }, role: 'viewer' },
} as const satisfies Record<string, Kind>

export type KindName = keyof typeof KINDS

export function isKind(name: string): name is KindName {
  return Object.hasOwn(KINDS, name)
}
