import {
  IconActivity,
  IconBuilding,
  IconChecks,
  IconFilter,
  IconHome,
  IconRobot,
  IconSettings,
  IconUserCircle,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'
import { linkOptions } from '@tanstack/react-router'
import { waitingCountQuery } from '../api/approvals.ts'

/** The pages of the main navigation, in groups. A feature adds its own. */
export const NAVIGATION = [
  { label: null, items: [{ label: 'Home', icon: IconHome, link: linkOptions({ to: '/' }) }] },
  {
    label: 'Customers',
    items: [
      { label: 'Contacts', icon: IconUsers, link: linkOptions({ to: '/contacts' }) },
      { label: 'Companies', icon: IconBuilding, link: linkOptions({ to: '/companies' }) },
      { label: 'Segments', icon: IconFilter, link: linkOptions({ to: '/segments' }) },
      { label: 'Events', icon: IconActivity, link: linkOptions({ to: '/events' }) },
    ],
  },
  {
    label: 'Outreach',
    items: [
      { label: 'Approvals', icon: IconChecks, link: linkOptions({ to: '/approvals' }), count: waitingCountQuery },
      { label: 'Agents', icon: IconRobot, link: linkOptions({ to: '/agents' }) },
      { label: 'Identities', icon: IconUserCircle, link: linkOptions({ to: '/identities' }) },
    ],
  },
  {
    label: 'Connections',
    items: [{ label: 'Webhooks', icon: IconWebhook, link: linkOptions({ to: '/webhooks' }) }],
  },
  {
    label: 'Organisation',
    items: [{ label: 'Settings', icon: IconSettings, link: linkOptions({ to: '/settings' }) }],
  },
]
