import { IconUpload } from '@tabler/icons-react'
import { ButtonLink } from '../ui/link.tsx'
import { text } from './text.ts'

/** Opens the imports from the contacts. */
export function ImportLink() {
  return (
    <ButtonLink variant="default" leftSection={<IconUpload size={16} aria-hidden />} to="/imports/new">
      {text.importLink}
    </ButtonLink>
  )
}
