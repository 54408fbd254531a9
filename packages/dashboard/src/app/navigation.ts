import {
  type Icon,
  IconActivity,
  IconBug,
  IconBuilding,
  IconChartLine,
  IconChecks,
  IconFilter,
  IconHome,
  IconPlug,
  IconRefresh,
  IconRobot,
  IconSettings,
  IconTransferIn,
  IconUpload,
  IconUserCircle,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'
import { type LinkProps, linkOptions } from '@tanstack/react-router'
import { queryOf } from '../api/operation.ts'
import type { ApprovalsPage } from '../api/types.ts'
import { text } from './text.ts'

interface Page {
  label: string
  icon: Icon
  link: LinkProps & { to: string }
  /** Opens the page after `g`. */
  key?: string
}

interface MainPage extends Page {
  key: string
  /** A number beside the link. */
  count?: WaitingCountQuery
  /** Further pages that belong to it, by the beginnings of their paths. */
  contains?: readonly string[]
}

const { navigation: label } = text

/** The number of actions that wait for approval, polled because agents work in the background. */
const waitingCountQuery = {
  ...queryOf('listApprovals', { limit: 1 }),
  select: ({ pagination }: ApprovalsPage) => pagination.total_items,
  refetchInterval: 30_000,
}
export type WaitingCountQuery = typeof waitingCountQuery

/** The pages of the main navigation, by task. */
export const NAVIGATION: { label: string | null; items: MainPage[] }[] = [
  { label: null, items: [{ label: label.home, icon: IconHome, link: linkOptions({ to: '/' }), key: 'h' }] },
  {
    label: label.people,
    items: [
      {
        label: label.contacts,
        icon: IconUsers,
        link: linkOptions({ to: '/contacts' }),
        key: 'c',
        contains: ['/duplicates', '/imports'],
      },
      { label: label.companies, icon: IconBuilding, link: linkOptions({ to: '/companies' }), key: 'o' },
      { label: label.segments, icon: IconFilter, link: linkOptions({ to: '/segments' }), key: 's' },
    ],
  },
  {
    label: null,
    items: [
      {
        label: label.activity,
        icon: IconActivity,
        link: linkOptions({ to: '/events' }),
        key: 'e',
        contains: ['/visitors'],
      },
      { label: label.insights, icon: IconChartLine, link: linkOptions({ to: '/insights' }), key: 't' },
    ],
  },
  {
    label: label.outreach,
    items: [
      {
        label: label.approvals,
        icon: IconChecks,
        link: linkOptions({ to: '/approvals' }),
        key: 'a',
        count: waitingCountQuery,
      },
      { label: label.agents, icon: IconRobot, link: linkOptions({ to: '/agents' }), key: 'g' },
      { label: label.senders, icon: IconUserCircle, link: linkOptions({ to: '/identities' }), key: 'n' },
    ],
  },
  {
    label: label.workspace,
    items: [
      {
        label: label.integrations,
        icon: IconPlug,
        link: linkOptions({ to: '/integrations' }),
        key: 'i',
        contains: ['/connect', '/connections', '/webhooks', '/hooks'],
      },
      { label: label.settings, icon: IconSettings, link: linkOptions({ to: '/settings' }), key: ',' },
    ],
  },
]

/** Pages behind those of the navigation, which people also look for by name. */
const FURTHER_PAGES: Page[] = [
  { label: label.web, icon: IconChartLine, link: linkOptions({ to: '/insights/web' }) },
  { label: label.dashboards, icon: IconChartLine, link: linkOptions({ to: '/insights/dashboards' }), key: 'd' },
  { label: label.duplicates, icon: IconUsers, link: linkOptions({ to: '/duplicates' }) },
  { label: label.imports, icon: IconUpload, link: linkOptions({ to: '/imports' }) },
  { label: label.systems, icon: IconRefresh, link: linkOptions({ to: '/connections' }), key: 'y' },
  { label: label.webhooks, icon: IconWebhook, link: linkOptions({ to: '/webhooks' }), key: 'w' },
  { label: label.hooks, icon: IconTransferIn, link: linkOptions({ to: '/hooks' }), key: 'k' },
  { label: label.debugger, icon: IconBug, link: linkOptions({ to: '/connect/debugger' }) },
]

export const MAIN_PAGES = NAVIGATION.flatMap(({ items }) => items)
export const ALL_PAGES: Page[] = [...MAIN_PAGES, ...FURTHER_PAGES]

/** Whether a path is that of a page behind a main page, which the navigation then highlights. */
export function isWithin(path: string, { contains = [] }: MainPage): boolean {
  return contains.some((start) => path === start || path.startsWith(`${start}/`))
}
