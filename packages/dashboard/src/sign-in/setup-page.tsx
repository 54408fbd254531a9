import { Button, Code, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Navigate, useLocation, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { setUp, signInOptionsQuery } from '../session/session.ts'
import { browserTimeZone } from '../session/time-zone.ts'
import { Form } from '../ui/form.tsx'
import { upTo } from '../ui/up-to.ts'
import { EntryFrame } from './entry-frame.tsx'
import { NewPassword } from './new-password.tsx'
import { text } from './text.ts'
import { useEnter } from './use-enter.ts'

/** The first page of a new service. It requires the link from the console. */
export function SetupPage() {
  const options = useQuery(signInOptionsQuery)
  const token = useSetupToken()
  const [isSubmitted, setSubmitted] = useState(false)
  if (options.data && !options.data.setup_needed && !isSubmitted) return <Navigate to="/sign-in" replace />
  if (token === null) return <SetupLinkNeeded error={options.error} />
  return <SetupForm token={token} error={options.error} onSubmit={() => setSubmitted(true)} />
}

function SetupLinkNeeded({ error }: { error: unknown }) {
  return (
    <EntryFrame title={text.setup.linkNeeded.title} description={text.setup.linkNeeded.description} error={error}>
      <Text size="sm">
        {text.setup.linkNeeded.where}
        <Code>{text.setup.linkNeeded.line}</Code>
      </Text>
      <Text size="sm">
        {text.setup.linkNeeded.lost}
        <Code>{text.setup.linkNeeded.createTenant}</Code>
        {text.setup.linkNeeded.and}
        <Code>{text.setup.linkNeeded.createUser}</Code>
        {text.setup.linkNeeded.end}
      </Text>
    </EntryFrame>
  )
}

/** Creates the owner of the service and its first workspace. */
function SetupForm({ token, error, onSubmit }: { token: string; error: unknown; onSubmit: () => void }) {
  const [owner, setOwner] = useState({ tenant_name: '', name: '', email: '', password: '' })
  const enter = useEnter()
  const making = useMutation({
    mutationFn: () => setUp(token, { ...owner, time_zone: browserTimeZone() }),
    onSuccess: enter,
  })
  const set = (name: keyof typeof owner) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget
    setOwner((before) => ({ ...before, [name]: value }))
  }
  const submit = () => {
    onSubmit()
    making.mutate()
  }
  return (
    <EntryFrame title={text.setup.title} description={text.setup.description} error={making.error ?? error}>
      <Form onSubmit={submit}>
        <TextInput
          label={text.setup.workspace}
          description={text.setup.workspaceDescription}
          name="organization"
          autoComplete="organization"
          required
          withAsterisk={false}
          {...upTo(200)}
          value={owner.tenant_name}
          onChange={set('tenant_name')}
        />
        <TextInput
          label={text.name}
          name="name"
          autoComplete="name"
          required
          withAsterisk={false}
          {...upTo(200)}
          value={owner.name}
          onChange={set('name')}
        />
        <TextInput
          label={text.email}
          type="email"
          name="email"
          autoComplete="username"
          required
          withAsterisk={false}
          value={owner.email}
          onChange={set('email')}
        />
        <NewPassword value={owner.password} onChange={(password) => setOwner((before) => ({ ...before, password }))} />
        <Button type="submit" loading={making.isPending} fullWidth>
          {text.setup.submit}
        </Button>
      </Form>
    </EntryFrame>
  )
}

/**
 * The token in the fragment of the setup link. It is removed from the address bar at once, so that it does not appear in
 * the history or in a screenshot.
 */
function useSetupToken(): string | null {
  const router = useRouter()
  const hash = useLocation({ select: (location) => location.hash })
  const [token, setToken] = useState<string | null>(null)
  const opened = new URLSearchParams(hash).get('token')
  useEffect(() => {
    if (opened === null) return
    setToken(opened)
    void router.navigate({ to: '/setup', replace: true })
  }, [opened, router])
  return opened ?? token
}
