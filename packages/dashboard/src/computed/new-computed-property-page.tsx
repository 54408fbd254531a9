import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { DefinitionForm } from './definition-form.tsx'
import { text } from './text.ts'

/** Creates a score or a figure from events. */
export function NewComputedPropertyPage() {
  return (
    <>
      <PageHeader
        title={text.form.newTitle}
        description={text.form.newDescription}
        breadcrumb={
          <AnchorLink inherit to="/settings/computed-properties">
            {text.form.breadcrumb}
          </AnchorLink>
        }
      />
      <DefinitionForm />
    </>
  )
}
