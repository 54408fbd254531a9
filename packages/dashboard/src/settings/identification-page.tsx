import { Alert, Button, Code, Group, Stack, Switch, Tabs, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { TenantObject } from '../../../server/src/access/tenant-object.ts'
import { refreshTenant, requireSignedIdentification, rotateIdentitySecret, tenantQuery } from '../api/tenant.ts'
import { useMay } from '../app/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatMoment } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { Snippet } from '../ui/snippet.tsx'
import { ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { SettingsPart } from './settings-part.tsx'
import { SIGNING_CODE } from './signing-code.ts'

/** The settings for signed identification. */
export function IdentificationPage() {
  const { data: tenant, error, refetch } = useQuery(tenantQuery)
  return (
    <>
      <PageHeader
        title="Identification"
        description="Anyone can open your site and claim to be someone else. A signature proves that an identification comes from you."
      />
      {error && !tenant ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !tenant ? <LoadingState lines={8} /> : null}
      {tenant ? (
        <Stack gap="md">
          <SettingsPart title="Identity secret">
            <Secret secret={tenant.identity_secret} />
          </SettingsPart>
          <SettingsPart title="Enforcement">
            <Requirement tenant={tenant} />
          </SettingsPart>
          <SettingsPart title="Sign on your server">
            <Text size="sm">Sign the id of the signed-in user. If you have no id, sign the email in lower case.</Text>
            <Tabs defaultValue="Node.js" keepMounted={false}>
              <Tabs.List aria-label="Languages">
                {Object.keys(SIGNING_CODE).map((language) => (
                  <Tabs.Tab key={language} value={language}>
                    {language}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              {Object.entries(SIGNING_CODE).map(([language, code]) => (
                <Tabs.Panel key={language} value={language} pt="sm">
                  <Snippet code={code} label={`the signature in ${language}`} />
                </Tabs.Panel>
              ))}
            </Tabs>
          </SettingsPart>
          <SettingsPart title="Pass it to the tracker">
            <Text size="sm">Put the hash into the page, never the secret.</Text>
            <Snippet code={IDENTIFY} label="the signed identification" />
          </SettingsPart>
        </Stack>
      ) : null}
    </>
  )
}

const IDENTIFY = `<script>
  window.service = window.service || []
  service.push(['identify', 'user-42', { email: 'ada@example.com' }, { userHash: 'USER_HASH' }])
</script>`

function Secret({ secret }: { secret: TenantObject['identity_secret'] }) {
  const queryClient = useQueryClient()
  const mayWrite = useMay('settings:write')
  const [shown, setShown] = useState<string | null>(null)
  const rotate = async () => {
    const { identity_secret: made } = await rotateIdentitySecret()
    setShown(made)
    await refreshTenant(queryClient)
  }
  const creation = useMutation({ mutationFn: rotate })
  if (shown !== null) return <SecretShown secret={shown} onDone={() => setShown(null)} />
  return (
    <>
      <Text size="sm">{stateOf(secret)}</Text>
      {creation.isError ? (
        <Alert color="red" role="alert">
          {messageOf(creation.error)}
        </Alert>
      ) : null}
      {mayWrite && secret === null ? (
        <Button mr="auto" loading={creation.isPending} onClick={() => creation.mutate()}>
          Create secret
        </Button>
      ) : null}
      {mayWrite && secret !== null ? (
        <ConfirmButton
          mr="auto"
          title="Rotate the identity secret?"
          explanation={
            secret.previous_valid_until === null
              ? 'The current secret stays valid for 24 hours. Give your server the new one by then.'
              : 'The current secret stays valid for 24 hours. The previous one stops working now.'
          }
          confirmLabel="Rotate secret"
          onConfirm={rotate}
        >
          Rotate secret
        </ConfirmButton>
      ) : null}
    </>
  )
}

function stateOf(secret: TenantObject['identity_secret']): string {
  if (secret === null) return 'There is no secret yet. It is shown once, when you create it.'
  const { created_at: at, previous_valid_until: until } = secret
  const previous = until === null ? '' : ` The previous secret is valid until ${formatMoment(until)}.`
  return `Created on ${formatMoment(at)}.${previous}`
}

function SecretShown({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <Alert icon={<IconKey aria-hidden />} title="Save the secret now: it is not shown again" role="status">
      <Stack gap="sm">
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
          <CopyButton value={secret} label="identity secret" withText />
        </Group>
        <Button mr="auto" onClick={onDone}>
          I have saved it
        </Button>
      </Stack>
    </Alert>
  )
}

function Requirement({ tenant }: { tenant: TenantObject }) {
  const queryClient = useQueryClient()
  const mayWrite = useMay('settings:write')
  const saving = useMutation({
    mutationFn: requireSignedIdentification,
    onSuccess: () => refreshTenant(queryClient),
  })
  const isRequired = tenant.require_signed_identification
  return (
    <>
      <Switch
        label="Require signed identification"
        description="Unsigned identifications from pages are ignored, and forms link no visitor. Events are recorded."
        checked={saving.isPending ? saving.variables : isRequired}
        disabled={!mayWrite || saving.isPending}
        onChange={(event) => saving.mutate(event.currentTarget.checked)}
      />
      {isRequired && tenant.identity_secret === null ? (
        <Alert color="yellow">There is no identity secret, so pages cannot identify anyone. Create one.</Alert>
      ) : null}
      {saving.isError ? (
        <Alert color="red" role="alert">
          {messageOf(saving.error)}
        </Alert>
      ) : null}
    </>
  )
}
