import {
  type Icon,
  IconActivity,
  IconBuilding,
  IconChecks,
  IconFilter,
  IconHome,
  IconPlugConnected,
  IconRefresh,
  IconRobot,
  IconSettings,
  IconTransferIn,
  IconUserCircle,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'
import type { LinkProps } from '@tanstack/react-router'
import { waitingCountQuery } from '../api/approvals.ts'
import { text } from './text.ts'

interface MainPage {
  label: string
  icon: Icon
  link: LinkProps & { to: string }
  /** Opens the page after `g`. */
  key: string
  /** A number beside the link. */
  count?: typeof waitingCountQuery
}

const { navigation: label } = text

/** The pages of the main navigation, in groups. A feature adds its own. */
export const NAVIGATION: { label: string | null; items: MainPage[] }[] = [
  { label: null, items: [{ label: label.home, icon: IconHome, link: { to: '/' }, key: 'h' }] },
  {
    label: label.customers,
    items: [
      { label: label.contacts, icon: IconUsers, link: { to: '/contacts' }, key: 'c' },
      { label: label.companies, icon: IconBuilding, link: { to: '/companies' }, key: 'o' },
      { label: label.segments, icon: IconFilter, link: { to: '/segments' }, key: 's' },
      { label: label.events, icon: IconActivity, link: { to: '/events' }, key: 'e' },
    ],
  },
  {
    label: label.outreach,
    items: [
      {
        label: label.approvals,
        icon: IconChecks,
        link: { to: '/approvals' },
        key: 'a',
        count: waitingCountQuery,
      },
      { label: label.agents, icon: IconRobot, link: { to: '/agents' }, key: 'g' },
      { label: label.identities, icon: IconUserCircle, link: { to: '/identities' }, key: 'i' },
    ],
  },
  {
    label: label.connections,
    items: [
      { label: label.connect, icon: IconPlugConnected, link: { to: '/connect' }, key: 'n' },
      { label: label.systems, icon: IconRefresh, link: { to: '/connections' }, key: 'y' },
      { label: label.webhooks, icon: IconWebhook, link: { to: '/webhooks' }, key: 'w' },
      { label: label.hooks, icon: IconTransferIn, link: { to: '/hooks' }, key: 'k' },
    ],
  },
  {
    label: label.organization,
    items: [{ label: label.settings, icon: IconSettings, link: { to: '/settings' }, key: ',' }],
  },
]

export const MAIN_PAGES = NAVIGATION.flatMap(({ items }) => items)
