import { Alert, Button, Card, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import type { Connector, StartAuthorizationInput } from '../api/types.ts'
import { SignInButton } from '../providers/sign-in-button.tsx'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { ErrorState, LoadingState, messageOf } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import { CredentialFields, credentialsOf, type Draft, SettingFields, settingsOf, shownSettings } from './fields.tsx'
import { text } from './text.ts'

const route = getRouteApi('/shell/connections/new/$connector')
const SOURCE_LENGTH_MAX = 64

/** Connects one system. */
export function NewConnectionPage() {
  const { connector: name } = route.useParams()
  const { data, error, refetch } = useQuery(queryOf('listConnectors'))
  const connector = data?.connectors.find((each) => each.name === name)
  return (
    <>
      <PageHeader
        title={connector ? text.create.title(connector.label) : text.choice.title}
        breadcrumb={
          <AnchorLink inherit to="/connections/new">
            {text.choice.title}
          </AnchorLink>
        }
      />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState /> : null}
      {data && !connector ? <Alert color="red">{text.create.unknown}</Alert> : null}
      {connector ? <NewConnection key={name} connector={connector} /> : null}
    </>
  )
}

/** Settings and source belong to both ways of signing in. */
function NewConnection({ connector }: { connector: Connector }) {
  const { name, label, oauth_provider: provider, credentials } = connector
  const navigate = route.useNavigate()
  const [settings, setSettings] = useState<Draft>({})
  const [source, setSource] = useState(name)
  const [secrets, setSecrets] = useState<Draft>({})
  const [start, setStart] = useState<'everything' | 'since'>('everything')
  const [since, setSince] = useState('')
  const from = start === 'since' ? { read_since: since } : null
  const creating = useOperation('createConnection', {
    onDone: ({ connection }) =>
      navigate({ to: '/connections/$connectionId', params: { connectionId: connection.connection_id } }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    creating.mutate({
      connector: name,
      source: source.trim(),
      credentials: credentialsOf(secrets),
      settings: settingsOf(connector, settings),
      ...from,
    })
  }
  const fields = (
    <>
      <SettingFields connector={connector} draft={settings} onChange={setSettings} />
      <TextInput
        label={text.create.source}
        description={text.create.sourceHint}
        required
        value={source}
        onChange={(event) => setSource(event.currentTarget.value)}
        {...upTo(SOURCE_LENGTH_MAX)}
      />
      <NativeSelect
        label={text.create.start}
        value={start}
        onChange={(event) => setStart(event.currentTarget.value as typeof start)}
        data={Object.entries(text.create.starts).map(([value, words]) => ({ value, label: words }))}
      />
      {start === 'since' ? (
        <TextInput
          type="date"
          label={text.create.since}
          required
          value={since}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
      ) : null}
    </>
  )
  return (
    <Stack gap="md" maw={640}>
      {provider ? (
        <Card component="section" aria-labelledby="settings">
          <Stack gap="md">
            <Title order={2} size="h5" id="settings">
              {text.create.settingsTitle}
            </Title>
            {fields}
          </Stack>
        </Card>
      ) : null}
      {provider ? (
        <Card component="section" aria-labelledby="sign-in">
          <Stack gap="md">
            <Title order={2} size="h5" id="sign-in">
              {text.create.signInTitle}
            </Title>
            <Text size="sm">{text.create.signInHint(label)}</Text>
            <Group>
              <SignInButton
                provider={provider}
                purpose={{ ...purposeOf(connector, source, settings), ...from }}
                variant="filled"
              >
                {text.create.signIn(label)}
              </SignInButton>
            </Group>
          </Stack>
        </Card>
      ) : null}
      {credentials.length > 0 ? (
        <Card component="form" onSubmit={submit}>
          <Stack gap="md">
            {provider ? (
              <Title order={2} size="h5">
                {text.create.credentialsTitle}
              </Title>
            ) : null}
            <CredentialFields connector={connector} draft={secrets} onChange={setSecrets} />
            {provider ? null : fields}
            {creating.isError ? (
              <Alert color="red" role="alert" title={text.create.failed}>
                {messageOf(creating.error)}
              </Alert>
            ) : null}
            <Group gap="xs">
              <Button type="submit" loading={creating.isPending}>
                {text.create.submit}
              </Button>
              <ButtonLink variant="default" to="/connections">
                {text.cancel}
              </ButtonLink>
            </Group>
          </Stack>
        </Card>
      ) : null}
    </Stack>
  )
}

/** The purpose of a sign-in at the provider, whose fields are texts. */
function purposeOf(connector: Connector, source: string, settings: Draft): StartAuthorizationInput['purpose'] {
  const entered = shownSettings(connector).flatMap(([name]) => {
    const value = (settings[name] ?? '').trim()
    return value === '' ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(entered), kind: 'connection', connector: connector.name, source: source.trim() }
}
