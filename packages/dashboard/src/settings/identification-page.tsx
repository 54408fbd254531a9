import { Alert, Button, Code, Group, Stack, Switch, Tabs, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Tenant } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { FormError } from '../ui/form.tsx'
import { formatMoment } from '../ui/format.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { SettingsPart } from '../ui/settings-part.tsx'
import { Snippet } from '../ui/snippet.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { SIGNING_CODE } from './signing-code.ts'
import { text } from './text.ts'
import { WordList } from './word-list.tsx'

const IGNORED_IDS_MAX = 100
const ID_LENGTH_MAX = 200

/** The settings for identification: its signature, and the IDs that are ignored. */
export function IdentificationPage() {
  const { data: tenant, error, refetch } = useQuery({ ...queryOf('getTenant'), select: ({ tenant }) => tenant })
  return (
    <>
      <PageHeader title={text.identification.title} description={text.identification.description} />
      {error && !tenant ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !tenant ? <LoadingState lines={8} /> : null}
      {tenant ? (
        <Stack gap="md">
          <SettingsPart title={text.identification.secret.title}>
            <Secret secret={tenant.identity_secret} />
          </SettingsPart>
          <SettingsPart title={text.identification.enforcement.title}>
            <Requirement tenant={tenant} />
          </SettingsPart>
          <SettingsPart title={text.identification.ignored.title}>
            <IgnoredIds key={tenant.tenant_id} tenant={tenant} />
          </SettingsPart>
          <SettingsPart title={text.identification.sign.title}>
            <Text size="sm">{text.identification.sign.explanation}</Text>
            <Tabs defaultValue="Node.js" keepMounted={false}>
              <Tabs.List aria-label={text.identification.sign.languages}>
                {Object.keys(SIGNING_CODE).map((language) => (
                  <Tabs.Tab key={language} value={language}>
                    {language}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              {Object.entries(SIGNING_CODE).map(([language, code]) => (
                <Tabs.Panel key={language} value={language} pt="sm">
                  <Snippet code={code} label={text.identification.sign.copy(language)} />
                </Tabs.Panel>
              ))}
            </Tabs>
          </SettingsPart>
          <SettingsPart title={text.identification.pass.title}>
            <Text size="sm">{text.identification.pass.explanation}</Text>
            <Snippet code={IDENTIFY} label={text.identification.pass.copy} />
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

function Secret({ secret }: { secret: Tenant['identity_secret'] }) {
  const mayWrite = useMay('settings:write')
  const [shown, setShown] = useState<string | null>(null)
  const rotation = useOperation('rotateIdentitySecret', {
    onDone: ({ identity_secret: made }) => setShown(made),
  })
  if (shown !== null) return <SecretShown secret={shown} onDone={() => setShown(null)} />
  return (
    <>
      <Text size="sm">{stateOf(secret)}</Text>
      <FormError error={rotation.error} />
      {mayWrite && secret === null ? (
        <Button mr="auto" loading={rotation.isPending} onClick={() => rotation.mutate({})}>
          {text.identification.secret.create}
        </Button>
      ) : null}
      {mayWrite && secret !== null ? (
        <ConfirmButton
          mr="auto"
          title={text.identification.secret.rotateTitle}
          explanation={
            secret.previous_valid_until === null
              ? text.identification.secret.rotateExplanation
              : text.identification.secret.rotateAgainExplanation
          }
          confirmLabel={text.identification.secret.rotate}
          onConfirm={() => rotation.mutateAsync({})}
        >
          {text.identification.secret.rotate}
        </ConfirmButton>
      ) : null}
    </>
  )
}

function stateOf(secret: Tenant['identity_secret']): string {
  if (secret === null) return text.identification.secret.none
  const { created_at: at, previous_valid_until: until } = secret
  const previous = until === null ? '' : text.identification.secret.previous(formatMoment(until))
  return `${text.identification.secret.created(formatMoment(at))}${previous}`
}

function SecretShown({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <Alert icon={<IconKey aria-hidden />} title={text.identification.secret.saveNow} role="status">
      <Stack gap="sm">
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
          <CopyButton value={secret} label={text.identification.secret.copy} withText />
        </Group>
        <Button mr="auto" onClick={onDone}>
          {text.identification.secret.saved}
        </Button>
      </Stack>
    </Alert>
  )
}

function IgnoredIds({ tenant }: { tenant: Tenant }) {
  const mayWrite = useMay('settings:write')
  return (
    <WordList
      saved={tenant.ignored_ids}
      changeOf={(ignored_ids) => ({ ignored_ids })}
      text={text.identification.ignored}
      max={IGNORED_IDS_MAX}
      lengthMax={ID_LENGTH_MAX}
      disabled={!mayWrite}
    />
  )
}

function Requirement({ tenant }: { tenant: Tenant }) {
  const mayWrite = useMay('settings:write')
  const saving = useOperation('updateTenant')
  const isRequired = tenant.require_signed_identification
  return (
    <>
      <Switch
        label={text.identification.enforcement.label}
        description={text.identification.enforcement.description}
        checked={saving.isPending ? saving.variables.require_signed_identification : isRequired}
        disabled={!mayWrite || saving.isPending}
        onChange={(event) => saving.mutate({ require_signed_identification: event.currentTarget.checked })}
      />
      {isRequired && tenant.identity_secret === null ? (
        <Alert color="yellow">{text.identification.enforcement.noSecret}</Alert>
      ) : null}
      <FormError error={saving.error} />
    </>
  )
}
