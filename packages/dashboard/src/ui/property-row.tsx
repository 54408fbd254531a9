import {
  ActionIcon,
  Group,
  NativeSelect,
  Text,
  TextInput,
  Tooltip,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { formatMoment } from './format.ts'
import { Problem } from './problem.tsx'
import classes from './property-row.module.css'
import { choicesOf, type PropertyValue, propertyLabel, propertyText, typedValue, valueWords } from './property-value.ts'
import { text } from './text.ts'
import { ExternalLink, Foreign, isWebAddress, None } from './text.tsx'

interface PropertyRowProps {
  name: string
  value: PropertyValue | undefined
  source: { source: string; updated_at: string } | undefined
  choices: readonly string[] | undefined
  canRemove: boolean
  onSave: ((value: PropertyValue | null) => Promise<unknown>) | undefined
}

/** One property, edited in place. */
export function PropertyRow({ name, value, source, choices, canRemove, onSave }: PropertyRowProps) {
  const [typed, setTyped] = useState<string | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  const label = propertyLabel(name)
  const current = propertyText(value)
  const close = () => {
    setTyped(null)
    // The button is rendered again in the next frame.
    requestAnimationFrame(() => button.current?.focus())
  }
  const saving = useMutation({
    mutationFn: (changed: PropertyValue | null) => onSave?.(changed) ?? Promise.resolve(),
    // Restores the input, to be corrected.
    onError: (_error, changed) => setTyped(propertyText(changed)),
  })
  const save = (event: FormEvent) => {
    event.preventDefault()
    const changed = typedValue(typed ?? '', value)
    close()
    if (propertyText(changed) !== current) saving.mutate(changed)
  }
  if (typed === null) {
    return (
      <div className={classes.row}>
        <Text component="dt" size="sm" c="dimmed" className={classes.name}>
          <Tooltip
            label={source ? text.properties.from(source.source, formatMoment(source.updated_at)) : name}
            position="top-start"
          >
            <span>
              <Foreign max={60}>{label}</Foreign>
            </span>
          </Tooltip>
        </Text>
        <Text component="dd" size="sm" className={classes.value} data-link={isWebAddress(current)}>
          {onSave ? (
            <>
              {isWebAddress(current) ? <ExternalLink url={current} /> : null}
              <UnstyledButton
                ref={button}
                className={classes.edit}
                onClick={() => {
                  saving.reset()
                  setTyped(current)
                }}
              >
                <EditLabel label={label} value={valueWords(name, value)} />
              </UnstyledButton>
            </>
          ) : current === '' ? (
            <None />
          ) : isWebAddress(current) ? (
            <ExternalLink url={current} />
          ) : (
            <Foreign>{valueWords(name, value)}</Foreign>
          )}
        </Text>
      </div>
    )
  }
  return (
    <div className={classes.form}>
      <dt className={classes.heading}>{label}</dt>
      <dd className={classes.field}>
        <Group
          component="form"
          gap={4}
          wrap="nowrap"
          align="flex-start"
          onSubmit={save}
          onKeyDown={(event) => event.key === 'Escape' && close()}
        >
          {choices ? (
            <NativeSelect
              size="xs"
              flex={1}
              aria-label={label}
              autoFocus
              value={typed}
              data={[{ value: '', label: text.properties.noChoice }, ...choicesOf(name, choices)]}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          ) : (
            <TextInput
              size="xs"
              flex={1}
              aria-label={label}
              autoFocus
              required={!canRemove}
              value={typed}
              error={saving.isError}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          )}
          <ActionIcon type="submit" size={30} aria-label={text.properties.save(label)}>
            <IconCheck size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon variant="default" size={30} aria-label={text.cancel} onClick={close}>
            <IconX size={16} aria-hidden />
          </ActionIcon>
        </Group>
        {saving.isError ? (
          <Text size="xs" c="red" mt={4} role="alert">
            <Problem error={saving.error} />
          </Text>
        ) : null}
      </dd>
    </div>
  )
}

/** The label of the button: the value, and for screen readers the property's name. */
function EditLabel({ label, value }: { label: string; value: string }) {
  if (value === '' || isWebAddress(value)) {
    return (
      <span className={classes.add}>
        {value === '' ? text.properties.addValue : text.properties.changeValue}
        <VisuallyHidden>{` ${label}`}</VisuallyHidden>
      </span>
    )
  }
  return (
    <>
      <VisuallyHidden>{text.properties.change(label)}</VisuallyHidden>
      <Foreign max={160}>{value}</Foreign>
    </>
  )
}
