import { Avatar, Group, Menu, Text, UnstyledButton, useMantineColorScheme, VisuallyHidden } from '@mantine/core'
import { IconCheck, IconLogout, IconSelector, IconUserCircle } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { signOut } from '../api/session.ts'
import classes from './account-menu.module.css'
import { useMe } from './may.ts'
import { useSwitchTenant } from './use-switch-tenant.ts'

/** The signed-in person and tenant; switches the tenant and the colours, and signs out. */
export function AccountMenu() {
  const { user, tenant, tenants } = useMe()
  const queryClient = useQueryClient()
  const router = useRouter()
  const leave = useMutation({
    mutationFn: signOut,
    onSettled: () => {
      queryClient.clear()
      return router.navigate({ to: '/sign-in' })
    },
  })
  const change = useMutation({ mutationFn: useSwitchTenant() })
  const name = user.name || user.email
  return (
    <Menu width={248} position="top-start" withinPortal>
      <Menu.Target>
        <UnstyledButton className={classes.button}>
          <VisuallyHidden>Account and tenant: </VisuallyHidden>
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
            <Menu.Label>Tenant</Menu.Label>
            {tenants.map(({ tenant_id, name: tenantName }) => (
              <Menu.Item
                key={tenant_id}
                rightSection={tenant_id === tenant.tenant_id ? <IconCheck size={16} aria-label="current" /> : null}
                onClick={() => tenant_id === tenant.tenant_id || change.mutate(tenant_id)}
              >
                <bdi>{tenantName}</bdi>
              </Menu.Item>
            ))}
            <Menu.Divider />
          </>
        ) : null}
        <Menu.Label>Colours</Menu.Label>
        <ColorSchemeItems />
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconUserCircle size={16} aria-hidden />}
          renderRoot={(props) => <Link to="/settings/profile" {...props} />}
        >
          Profile and security
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => leave.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const SCHEMES = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'System' },
] as const

function ColorSchemeItems() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return SCHEMES.map(({ value, label }) => (
    <Menu.Item
      key={value}
      closeMenuOnClick={false}
      rightSection={value === colorScheme ? <IconCheck size={16} aria-label="current" /> : null}
      onClick={() => setColorScheme(value)}
    >
      {label}
    </Menu.Item>
  ))
}
