import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMe } from '../session/may.ts'
import { NewPassword } from '../sign-in/new-password.tsx'
import { Form } from '../ui/form.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Outcome, SettingsPart } from '../ui/settings-part.tsx'
import { upTo } from '../ui/up-to.ts'
import { changeMyName, changePassword, refreshMe } from './account.ts'
import { text } from './text.ts'
import { TwoFactor } from './two-factor.tsx'

/** The signed-in person's settings, which are the same in every workspace. */
export function ProfilePage() {
  const { user, sign_in: signIn } = useMe()
  return (
    <>
      <PageHeader title={text.profile.title} description={<bdi>{user.email}</bdi>} />
      <Stack gap="md" maw={640}>
        <Name />
        {user.has_password ? (
          <>
            <ChangePassword email={user.email} />
            <TwoFactor isOn={user.two_factor_enabled} />
          </>
        ) : (
          <SettingsPart title={text.profile.password.title}>
            <Text size="sm">
              {text.profile.password.elsewhere(signIn.oidc.label ?? text.profile.password.provider)}
            </Text>
          </SettingsPart>
        )}
      </Stack>
    </>
  )
}

function Name() {
  const queryClient = useQueryClient()
  const { user } = useMe()
  const [name, setName] = useState(user.name)
  const saving = useMutation({ mutationFn: () => changeMyName(name.trim()), onSuccess: () => refreshMe(queryClient) })
  return (
    <SettingsPart title={text.profile.name.title}>
      <Form gap="sm" align="flex-start" onSubmit={() => saving.mutate()}>
        <TextInput
          label={text.profile.name.label}
          description={text.profile.name.description}
          w="100%"
          required
          withAsterisk={false}
          autoComplete="name"
          {...upTo(200)}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value)
            saving.reset()
          }}
        />
        <Outcome error={saving.error} success={saving.isSuccess ? text.profile.name.saved : null} />
        <Button type="submit" variant="default" loading={saving.isPending} disabled={name.trim() === user.name}>
          {text.profile.name.save}
        </Button>
      </Form>
    </SettingsPart>
  )
}

function ChangePassword({ email }: { email: string }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const changing = useMutation({
    mutationFn: () => changePassword(current, next),
    onSuccess: () => {
      setCurrent('')
      setNext('')
    },
  })
  return (
    <SettingsPart title={text.profile.password.title}>
      <Form gap="sm" align="flex-start" onSubmit={() => changing.mutate()}>
        {/* Tells password managers which account the password belongs to. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <PasswordInput
          label={text.profile.password.current}
          name="password"
          autoComplete="current-password"
          w="100%"
          required
          withAsterisk={false}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
          visibilityToggleButtonProps={{
            'aria-label': text.profile.password.show,
            tabIndex: 0,
            'aria-hidden': false,
          }}
        />
        <div style={{ width: '100%' }}>
          <NewPassword label={text.profile.password.next} value={next} onChange={setNext} />
        </div>
        <Outcome error={changing.error} success={changing.isSuccess ? text.profile.password.saved : null} />
        <Button type="submit" variant="default" loading={changing.isPending}>
          {text.profile.password.save}
        </Button>
      </Form>
    </SettingsPart>
  )
}
