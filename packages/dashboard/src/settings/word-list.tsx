import { Button, TagsInput } from '@mantine/core'
import { useState } from 'react'
import { useOperation } from '../api/operation.ts'
import type { UpdateTenantInput } from '../api/types.ts'
import { Form } from '../ui/form.tsx'
import { Outcome } from '../ui/settings-part.tsx'

interface WordsText {
  label: string
  description: string
  placeholder: string
}

interface WordListText extends WordsText {
  save: string
  saved: string
}

/** Words that a person adds and removes. */
export function WordsInput({
  text,
  words,
  onChange,
  max,
  lengthMax,
  disabled = false,
}: {
  text: WordsText
  words: string[]
  onChange: (words: string[]) => void
  max: number
  lengthMax: number
  disabled?: boolean
}) {
  return (
    <TagsInput
      label={text.label}
      description={text.description}
      placeholder={words.length === 0 ? text.placeholder : ''}
      w="100%"
      value={words}
      onChange={(chosen) =>
        onChange(chosen.map((word) => word.trim().slice(0, lengthMax)).filter((word) => word !== ''))
      }
      acceptValueOnBlur
      maxTags={max}
      disabled={disabled}
    />
  )
}

/** A list of words among the tenant's settings, saved as a whole. */
export function WordList({
  saved,
  changeOf,
  text,
  max,
  lengthMax,
  disabled = false,
}: {
  saved: string[]
  changeOf: (words: string[]) => UpdateTenantInput
  text: WordListText
  max: number
  lengthMax: number
  disabled?: boolean
}) {
  const [words, setWords] = useState(saved)
  const saving = useOperation('updateTenant')
  const isSaved = words.length === saved.length && words.every((word, index) => word === saved[index])
  return (
    <Form gap="sm" align="flex-start" maw={560} onSubmit={() => saving.mutate(changeOf(words))}>
      <WordsInput
        text={text}
        words={words}
        onChange={(chosen) => {
          setWords(chosen)
          saving.reset()
        }}
        max={max}
        lengthMax={lengthMax}
        disabled={disabled}
      />
      <Outcome error={saving.error} success={saving.isSuccess ? text.saved : null} />
      {disabled ? null : (
        <Button type="submit" variant="default" loading={saving.isPending} disabled={isSaved}>
          {text.save}
        </Button>
      )}
    </Form>
  )
}
