import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Navigate } from '@tanstack/react-router'
import { useState } from 'react'
import { signInOptionsQuery } from '../session/session.ts'
import { LoadingState } from '../ui/states.tsx'
import { CodeForm } from './code-form.tsx'
import { EntryFrame } from './entry-frame.tsx'
import { PasswordForm } from './password-form.tsx'
import { text } from './text.ts'
import { useEnter } from './use-enter.ts'

const route = getRouteApi('/sign-in')

/** Email and password, then the code of two-factor authentication if it is on. */
export function SignInPage() {
  const { redirect, step } = route.useSearch()
  const options = useQuery(signInOptionsQuery)
  const [needsCode, setNeedsCode] = useState(step === 'code')
  const enter = useEnter(redirect)
  if (options.data?.setup_needed) return <Navigate to="/setup" replace />
  if (needsCode) {
    return (
      <EntryFrame title={text.code.title} description={text.code.description}>
        <CodeForm onDone={enter} onBack={() => setNeedsCode(false)} />
      </EntryFrame>
    )
  }
  return (
    <EntryFrame title={text.signIn.title} error={options.error}>
      {options.isPending ? (
        <LoadingState lines={3} />
      ) : (
        <PasswordForm
          oidcLabel={options.data?.oidc?.label}
          redirect={redirect}
          canMail={options.data?.password_reset === 'mail'}
          onDone={(step) => (step.needsCode ? setNeedsCode(true) : enter())}
        />
      )}
    </EntryFrame>
  )
}
