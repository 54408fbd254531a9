import { useMantineColorScheme } from '@mantine/core'
import {
  IconAddressBook,
  IconBook,
  IconBuildingCommunity,
  IconClock,
  IconCode,
  IconFileExport,
  IconFilterPlus,
  IconKey,
  IconKeyboard,
  IconLock,
  IconLogout,
  IconPalette,
  IconPlugConnected,
  IconRobot,
  IconSettings,
  IconTransferIn,
  IconUpload,
  IconUserPlus,
  IconWebhook,
  IconWorld,
} from '@tabler/icons-react'
import { type LinkProps, useRouter } from '@tanstack/react-router'
import { useMe } from '../../session/may.ts'
import { recentPages } from '../../session/recent-pages.ts'
import { useSwitchTenant } from '../../session/use-switch-tenant.ts'
import { settingsGroupsFor } from '../../settings/pages.ts'
import { showOverlay } from '../../ui/overlay.ts'
import { ALL_PAGES } from '../navigation.ts'
import { text } from '../text.ts'
import { useSignOut } from '../use-sign-out.ts'
import type { PaletteItem } from './palette-item.ts'

const { actions: label, words } = text.palette
const SCHEMES = ['light', 'dark', 'auto'] as const

/** What the palette offers without asking the service: recent records, pages, and the actions that the person may do. */
export function useCommands(): Record<'recent' | 'pages' | 'actions', PaletteItem[]> {
  const { tenant, tenants, scopes, role, user } = useMe()
  const router = useRouter()
  const switchTenant = useSwitchTenant()
  const leave = useSignOut()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const open = (link: LinkProps) => () => void router.navigate(link)
  const page = { opensPage: true }
  const here = { opensPage: false }

  const recent = recentPages().map(({ path, name }) => ({
    id: path,
    label: name,
    icon: IconClock,
    ...page,
    run: () => router.history.push(path),
  }))
  const pages = [
    ...ALL_PAGES.map((item) => ({
      id: `page ${item.link.to}`,
      label: item.label,
      icon: item.icon,
      ...page,
      run: open(item.link),
    })),
    ...settingsGroupsFor(role)
      .flatMap(({ pages: some }) => some)
      .map((item) => ({
        id: `page ${item.link.to}`,
        label: item.label,
        hint: text.navigation.settings,
        icon: IconSettings,
        ...page,
        run: open(item.link),
      })),
  ]
  /** An action that needs a scope. */
  const withScope = (scope: string, item: PaletteItem) => (scopes.includes(scope) ? [item] : [])
  const action = (id: keyof typeof label & keyof typeof ICONS, link: LinkProps, more = '') => ({
    id,
    label: label[id] as string,
    words: more,
    icon: ICONS[id],
    ...page,
    run: open(link),
  })
  const actions = [
    ...withScope(
      'contacts:write',
      action('newContact', { to: '/contacts', search: { dialog: true } }, words.newContact),
    ),
    ...withScope('contacts:write', action('importFile', { to: '/imports/new' }, words.importFile)),
    ...withScope('segments:write', action('newSegment', { to: '/segments/new' })),
    ...withScope('agents:write', action('newAgent', { to: '/agents/new' })),
    ...withScope('webhooks:write', action('newWebhook', { to: '/webhooks/new' })),
    ...withScope('settings:write', action('newHook', { to: '/hooks/new' }, words.newHook)),
    ...withScope('settings:write', action('newConnection', { to: '/connections/new' }, words.newConnection)),
    ...withScope('settings:write', action('invite', { to: '/settings/team', search: { dialog: true } }, words.invite)),
    ...withScope('keys:write', action('newKey', { to: '/settings/keys', search: { dialog: true } }, words.newKey)),
    ...withScope('settings:write', action('addDomain', { to: '/settings/domains' }, words.domains)),
    ...withScope('data:export', action('exportData', { to: '/settings/data' }, words.exportData)),
    ...(role === 'owner'
      ? [action('newWorkspace', { to: '/settings/workspace', search: { dialog: true } }, words.newWorkspace)]
      : []),
    ...(user.has_password ? [action('changePassword', { to: '/settings/profile' })] : []),
    ...tenants
      .filter(({ tenant_id: id }) => id !== tenant.tenant_id)
      .map(({ tenant_id: id, name }) => ({
        id: `switch ${id}`,
        label: label.switchTo(name),
        words: words.switchTo,
        icon: IconBuildingCommunity,
        ...page,
        run: () => void switchTenant(id),
      })),
    ...SCHEMES.filter((scheme) => scheme !== colorScheme).map((scheme) => ({
      id: `scheme ${scheme}`,
      label: label.scheme[scheme],
      words: words.scheme,
      icon: IconPalette,
      ...here,
      run: () => setColorScheme(scheme),
    })),
    {
      id: 'documentation',
      label: label.documentation,
      words: words.documentation,
      icon: IconBook,
      ...page,
      run: () => window.location.assign('/docs'),
    },
    {
      id: 'apiReference',
      label: label.apiReference,
      icon: IconCode,
      ...page,
      run: () => window.location.assign('/docs/api'),
    },
    {
      id: 'help',
      label: text.shortcuts.title,
      words: words.help,
      icon: IconKeyboard,
      ...here,
      run: () => showOverlay('shortcuts'),
    },
    { id: 'signOut', label: text.account.signOut, words: words.signOut, icon: IconLogout, ...page, run: leave },
  ]
  return { recent, pages, actions }
}

const ICONS = {
  newContact: IconAddressBook,
  importFile: IconUpload,
  newWorkspace: IconBuildingCommunity,
  newSegment: IconFilterPlus,
  newAgent: IconRobot,
  newWebhook: IconWebhook,
  newHook: IconTransferIn,
  newConnection: IconPlugConnected,
  invite: IconUserPlus,
  newKey: IconKey,
  addDomain: IconWorld,
  exportData: IconFileExport,
  changePassword: IconLock,
} as const
