import { Badge, Button, Code, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconBuildingCommunity } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import { CloseWorkspace } from '../closing/close-workspace.tsx'
import { useIsAtLeast, useMay, useMe } from '../session/may.ts'
import { createTenant, type Me } from '../session/session.ts'
import { browserTimeZone, TIME_ZONES } from '../session/time-zone.ts'
import { useSwitchTenant } from '../session/use-switch-tenant.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { CreateDialog } from '../ui/create-dialog.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Form } from '../ui/form.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Outcome, SettingsPart } from '../ui/settings-part.tsx'
import { EmptyState, messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { upTo } from '../ui/up-to.ts'
import { PersonalProperties } from './personal-properties.tsx'
import classes from './settings-table.module.css'
import { text } from './text.ts'

type Tenant = Me['tenants'][number]

const route = getRouteApi('/shell/settings/workspace')

/** The workspace's name and id, and the person's other workspaces; owners can create more. */
export function WorkspacePage() {
  const { tenant, tenants } = useMe()
  const { dialog } = route.useSearch()
  const navigate = route.useNavigate()
  const open = useSwitchTenant()
  const maySet = useMay('settings:write')
  const isOwner = useIsAtLeast('owner')
  const create = isOwner ? (
    <CreateDialog
      key={String(dialog)}
      isOpenAtFirst={dialog === true}
      onCancel={() => navigate({ search: {}, replace: true })}
      title={text.workspace.yours.create}
      fields={[{ name: 'name', label: text.workspace.yours.name, required: true }]}
      onCreate={async ({ name = '' }) => {
        const { tenant_id: tenantId } = await createTenant(name, browserTimeZone())
        await open(tenantId)
      }}
    />
  ) : null
  return (
    <>
      <PageHeader title={text.workspace.title} description={text.workspace.description} />
      <Stack gap="md">
        {maySet ? <WorkspaceName key={tenant.tenant_id} /> : null}
        <TimeZone mayChange={maySet} />
        <SettingsPart title={text.workspace.id.title}>
          <Group gap="xs">
            <Code style={{ overflowWrap: 'anywhere' }}>{tenant.tenant_id}</Code>
            <CopyButton value={tenant.tenant_id} label={text.workspace.id.copy} withText />
          </Group>
          <Text size="sm" c="dimmed">
            {text.workspace.id.explanation} {text.workspace.id.api}
          </Text>
        </SettingsPart>
        {maySet ? <PersonalProperties key={tenant.tenant_id} /> : null}
        <section>
          <Group justify="space-between" mt="sm" mb="sm">
            <Title order={2} size="h4">
              {text.workspace.yours.title}
            </Title>
            {create}
          </Group>
          <DataTable
            label={text.workspace.yours.title}
            columns={columnsWith(tenant.tenant_id)}
            rows={tenants}
            rowKey={({ tenant_id }) => tenant_id}
            empty={<EmptyState icon={IconBuildingCommunity} title={text.workspace.yours.empty} />}
          />
        </section>
        {isOwner ? <CloseWorkspace /> : null}
      </Stack>
    </>
  )
}

function WorkspaceName() {
  const { tenant } = useMe()
  const [name, setName] = useState(tenant.name)
  const saving = useOperation('updateTenant')
  return (
    <SettingsPart title={text.workspace.name.title}>
      <Form gap="sm" align="flex-start" maw={560} onSubmit={() => saving.mutate({ name: name.trim() })}>
        <TextInput
          label={text.workspace.name.label}
          description={text.workspace.name.description}
          w="100%"
          required
          withAsterisk={false}
          {...upTo(200)}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value)
            saving.reset()
          }}
        />
        <Outcome error={saving.error} success={saving.isSuccess ? text.workspace.name.saved : null} />
        <Button
          type="submit"
          variant="default"
          loading={saving.isPending}
          disabled={name.trim() === tenant.name || name.trim() === ''}
        >
          {text.workspace.name.save}
        </Button>
      </Form>
    </SettingsPart>
  )
}

function TimeZone({ mayChange }: { mayChange: boolean }) {
  const { tenant } = useMe()
  const saving = useOperation('updateTenant')
  const words = text.workspace.timeZone
  const proposed = browserTimeZone()
  const set = (time_zone: string | null) => time_zone !== null && saving.mutate({ time_zone })
  return (
    <SettingsPart title={words.title}>
      <Select
        label={words.label}
        description={words.description}
        data={[...new Set([tenant.time_zone, ...TIME_ZONES])]}
        searchable
        allowDeselect={false}
        maw={560}
        limit={100}
        disabled={!mayChange || saving.isPending}
        value={saving.isPending ? (saving.variables.time_zone ?? null) : tenant.time_zone}
        onChange={set}
      />
      {mayChange && proposed !== tenant.time_zone ? (
        <Button variant="default" size="xs" mr="auto" loading={saving.isPending} onClick={() => set(proposed)}>
          {words.ofBrowser(proposed)}
        </Button>
      ) : null}
      <Outcome error={saving.error} success={saving.isSuccess ? words.saved : null} />
    </SettingsPart>
  )
}

function columnsWith(currentId: string): Column<Tenant>[] {
  return [
    {
      id: 'name',
      header: text.workspace.yours.name,
      cell: ({ name }) => (
        <Text size="sm" fw={550} className={classes.name}>
          <Foreign max={120}>{name}</Foreign>
        </Text>
      ),
    },
    { id: 'role', header: text.workspace.yours.role, visibleFrom: 'xs', cell: ({ role }) => role },
    {
      id: 'actions',
      header: text.workspace.yours.actions,
      align: 'right',
      cell: (tenant) =>
        tenant.tenant_id === currentId ? (
          <Badge color="gray">{text.workspace.yours.current}</Badge>
        ) : (
          <OpenButton tenant={tenant} />
        ),
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
      aria-label={text.workspace.yours.openOne(name.slice(0, 80))}
    >
      {text.workspace.yours.open}
    </Button>
  )
}
