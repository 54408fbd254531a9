import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { createSegment } from '../api/segments.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { SegmentForm } from './segment-form.tsx'
import { text } from './text.ts'

export function NewSegmentPage() {
  return (
    <>
      <PageHeader
        title={text.form.newTitle}
        description={text.form.newDescription}
        breadcrumb={
          <Anchor inherit renderRoot={(props) => <Link to="/segments" {...props} />}>
            {text.form.breadcrumb}
          </Anchor>
        }
      />
      <SegmentForm submitLabel={text.form.create} save={createSegment} />
    </>
  )
}
