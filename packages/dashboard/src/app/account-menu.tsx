import { Avatar, Group, Menu, Text, UnstyledButton, useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import {
  IconBook,
  IconBuildingCommunity,
  IconCheck,
  IconCode,
  IconKeyboard,
  IconLogout,
  IconSelector,
  IconUserCircle,
  IconUserPlus,
} from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useIsAtLeast, useMe } from '../session/may.ts'
import { useSwitchTenant } from '../session/use-switch-tenant.ts'
import { showOverlay } from '../ui/overlay.ts'
import { useMenuButton } from '../ui/use-menu-button.ts'
import classes from './account-menu.module.css'
import { text } from './text.ts'
import { useSignOut } from './use-sign-out.ts'

/** The signed-in person and workspace; switches the workspace and the theme, leads to the documentation, and signs out. */
export function AccountMenu() {
  const { user, tenant, tenants } = useMe()
  const isAdmin = useIsAtLeast('admin')
  const isOwner = useIsAtLeast('owner')
  const leave = useSignOut()
  const change = useMutation({ mutationFn: useSwitchTenant() })
  const { button, afterFocus } = useMenuButton()
  const name = user.name || user.email
  return (
    <Menu width={248} position="top-start" withinPortal>
      <Menu.Target>
        <UnstyledButton ref={button} className={classes.button}>
          <VisuallyHidden>{`${text.account.label} `}</VisuallyHidden>
          <Group gap={10} wrap="nowrap">
            <Avatar size={32} radius="xl" color="ink" variant="filled" aria-hidden>
              {name.slice(0, 1).toUpperCase()}
            </Avatar>
            <div className={classes.names}>
              <Text size="sm" fw={600} truncate>
                <bdi>{tenant.name}</bdi>
              </Text>
              <Text size="xs" c="dimmed" truncate>
                <bdi>{name}</bdi>
              </Text>
            </div>
            <IconSelector size={16} aria-hidden />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {tenants.length > 1 ? (
          <>
            <Menu.Label>{text.account.workspace}</Menu.Label>
            {tenants.map(({ tenant_id, name: tenantName }) => (
              <Menu.Item
                key={tenant_id}
                rightSection={
                  tenant_id === tenant.tenant_id ? <IconCheck size={16} aria-label={text.account.current} /> : null
                }
                onClick={() => tenant_id === tenant.tenant_id || change.mutate(tenant_id)}
              >
                <bdi>{tenantName}</bdi>
              </Menu.Item>
            ))}
            <Menu.Divider />
          </>
        ) : null}
        {isAdmin ? (
          <Menu.Item
            leftSection={<IconUserPlus size={16} aria-hidden />}
            renderRoot={(props) => <Link to="/settings/team" search={{ dialog: true }} {...props} />}
          >
            {text.account.invite}
          </Menu.Item>
        ) : null}
        {isOwner ? (
          <Menu.Item
            leftSection={<IconBuildingCommunity size={16} aria-hidden />}
            renderRoot={(props) => <Link to="/settings/workspace" search={{ dialog: true }} {...props} />}
          >
            {text.account.newWorkspace}
          </Menu.Item>
        ) : null}
        {isAdmin ? <Menu.Divider /> : null}
        <Menu.Label>{text.account.theme}</Menu.Label>
        <ColorSchemeItems />
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconUserCircle size={16} aria-hidden />}
          renderRoot={(props) => <Link to="/settings/profile" {...props} />}
        >
          {text.account.profile}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconKeyboard size={16} aria-hidden />}
          onClick={afterFocus(() => showOverlay('shortcuts'))}
        >
          {text.account.shortcuts}
        </Menu.Item>
        <Menu.Item component="a" href="/docs" leftSection={<IconBook size={16} aria-hidden />}>
          {text.account.documentation}
        </Menu.Item>
        <Menu.Item component="a" href="/docs/api" leftSection={<IconCode size={16} aria-hidden />}>
          {text.account.apiReference}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={leave}>
          {text.account.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const SCHEMES = ['light', 'dark', 'auto'] as const

function ColorSchemeItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return SCHEMES.map((value) => (
    <Menu.Item
      key={value}
      closeMenuOnClick={false}
      rightSection={value === colorScheme ? <IconCheck size={16} aria-label={text.account.current} /> : null}
      onClick={() => setColorScheme(value)}
    >
      {text.account.schemes[value]}
    </Menu.Item>
  ))
}
