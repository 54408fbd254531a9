import { PasswordInput } from '@mantine/core'

const LENGTH_MIN = 10

interface NewPasswordProps {
  value: string
  onChange: (password: string) => void
  label?: string
}

/** The field for a password that is new. */
export function NewPassword({ value, onChange, label = 'Password' }: NewPasswordProps) {
  return (
    <PasswordInput
      label={label}
      description={`At least ${LENGTH_MIN} characters; a few words make a good one.`}
      name="new-password"
      autoComplete="new-password"
      required
      withAsterisk={false}
      minLength={LENGTH_MIN}
      maxLength={256}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the password', tabIndex: 0, 'aria-hidden': false }}
    />
  )
}
