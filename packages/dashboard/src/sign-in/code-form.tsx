import { Alert, Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { verifyCode } from '../session/session.ts'
import { Form } from '../ui/form.tsx'
import { messageOf } from '../ui/states.tsx'
import { text } from './text.ts'

/** The second step of a sign-in: a code from an authenticator, or a backup code. */
export function CodeForm({ onDone, onBack }: { onDone: () => unknown; onBack: () => void }) {
  const [kind, setKind] = useState<'totp' | 'backup-code'>('totp')
  const [code, setCode] = useState('')
  const checking = useMutation({ mutationFn: () => verifyCode(code.trim(), kind), onSuccess: onDone })
  const change = () => {
    setKind(kind === 'totp' ? 'backup-code' : 'totp')
    setCode('')
    checking.reset()
  }
  return (
    <Form onSubmit={() => checking.mutate()}>
      {checking.isError ? (
        <Alert color="red" role="alert">
          {codeMessage(checking.error)}
        </Alert>
      ) : null}
      <TextInput
        key={kind}
        label={kind === 'totp' ? text.code.totp : text.code.backup}
        name="code"
        required
        withAsterisk={false}
        autoComplete="one-time-code"
        inputMode={kind === 'totp' ? 'numeric' : 'text'}
        autoFocus
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <Button type="submit" loading={checking.isPending} fullWidth>
        {text.code.submit}
      </Button>
      <Button variant="subtle" size="compact-sm" onClick={change}>
        {kind === 'totp' ? text.code.useBackup : text.code.useTotp}
      </Button>
      <Button variant="subtle" color="gray" size="compact-sm" onClick={onBack}>
        {text.back}
      </Button>
    </Form>
  )
}

/** The message for a rejected code. */
export function codeMessage(error: unknown): string {
  return error instanceof ApiError && error.status === 401 ? text.code.wrong : messageOf(error)
}
