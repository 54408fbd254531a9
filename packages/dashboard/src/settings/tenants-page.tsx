import { Badge, Button, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconBuildingCommunity } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { createTenant, type Me } from '../api/session.ts'
import { useIsAtLeast, useMe } from '../app/may.ts'
import { useSwitchTenant } from '../app/use-switch-tenant.ts'
import { CreateDialog } from '../ui/create-dialog.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { EmptyState, messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import classes from './settings-table.module.css'

type Tenant = Me['tenants'][number]

/** The tenants of the signed-in person; owners can create more. */
export function TenantsPage() {
  const { tenant, tenants } = useMe()
  const open = useSwitchTenant()
  const create = useIsAtLeast('owner') ? (
    <CreateDialog
      title="New tenant"
      fields={[{ name: 'name', label: 'Name', required: true }]}
      onCreate={async ({ name = '' }) => {
        const { tenant_id: tenantId } = await createTenant(name)
        await open(tenantId)
      }}
    />
  ) : null
  return (
    <>
      <PageHeader
        title="Tenants"
        description="Each tenant has its own contacts, events, team and keys, and cannot see the others."
        actions={create}
      />
      <DataTable
        label="Tenants"
        columns={columnsWith(tenant.tenant_id)}
        rows={tenants}
        rowKey={({ tenant_id }) => tenant_id}
        empty={<EmptyState icon={IconBuildingCommunity} title="No tenants" />}
      />
    </>
  )
}

function columnsWith(currentId: string): Column<Tenant>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      cell: ({ name }) => (
        <Text size="sm" fw={550} className={classes.name}>
          <Foreign max={120}>{name}</Foreign>
        </Text>
      ),
    },
    { id: 'role', header: 'Your role', visibleFrom: 'xs', cell: ({ role }) => role },
    {
      id: 'actions',
      header: 'Actions',
      align: 'right',
      cell: (tenant) =>
        tenant.tenant_id === currentId ? <Badge color="gray">open</Badge> : <OpenButton tenant={tenant} />,
    },
  ]
}

function OpenButton({ tenant: { tenant_id: tenantId, name } }: { tenant: Tenant }) {
  const opening = useMutation({
    mutationFn: useSwitchTenant(),
    onError: (error) => notifications.show({ color: 'red', message: messageOf(error) }),
  })
  return (
    <Button
      variant="default"
      size="xs"
      loading={opening.isPending}
      onClick={() => opening.mutate(tenantId)}
      aria-label={`Open ${name.slice(0, 80)}`}
    >
      Open
    </Button>
  )
}
