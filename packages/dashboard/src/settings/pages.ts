import { linkOptions } from '@tanstack/react-router'
import { isAtLeast } from '../session/may.ts'
import type { Role } from '../session/session.ts'
import { text } from './text.ts'

const { pages: label, groups } = text

const GROUPS = [
  { label: null, pages: [{ label: label.profile, link: linkOptions({ to: '/settings/profile' }) }] },
  {
    label: groups.workspace,
    pages: [
      { label: label.workspace, link: linkOptions({ to: '/settings/workspace' }) },
      { label: label.team, link: linkOptions({ to: '/settings/team' }) },
      { label: label.computed, link: linkOptions({ to: '/settings/computed-properties' }) },
      { label: label.enrichment, link: linkOptions({ to: '/settings/enrichment' }) },
      { label: label.data, link: linkOptions({ to: '/settings/data' }), isForAdmins: true },
      { label: label.audit, link: linkOptions({ to: '/settings/audit' }), isForAdmins: true },
    ],
  },
  {
    label: groups.website,
    pages: [
      { label: label.tracker, link: linkOptions({ to: '/settings/tracker' }) },
      { label: label.domains, link: linkOptions({ to: '/settings/domains' }) },
      { label: label.identification, link: linkOptions({ to: '/settings/identification' }), isForAdmins: true },
    ],
  },
  {
    label: groups.developers,
    pages: [
      { label: label.keys, link: linkOptions({ to: '/settings/keys' }), isForAdmins: true },
      { label: label.sources, link: linkOptions({ to: '/settings/sources' }) },
      { label: label.connectedApps, link: linkOptions({ to: '/settings/connected-apps' }) },
      { label: label.oauthClients, link: linkOptions({ to: '/settings/oauth-clients' }) },
      { label: label.warehouse, link: linkOptions({ to: '/settings/warehouse' }) },
      { label: label.limits, link: linkOptions({ to: '/settings/limits' }) },
    ],
  },
]

/** The pages of the settings that a person with this role may open, in groups. */
export function settingsGroupsFor(role: Role) {
  return GROUPS.map(({ label: group, pages }) => ({
    label: group,
    pages: pages.filter((page) => !('isForAdmins' in page) || isAtLeast(role, 'admin')),
  }))
}
