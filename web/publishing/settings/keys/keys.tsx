import { Keys } from '../../../shell/keys/keys.tsx'
import { Page } from '../../../shell/page.tsx'
import { say } from '../../../shell/words.ts'

/** Machine credentials of publishing. */
export default function KeysPage() {
  return (
    <Page title={say('keys.title')}>
      <Keys service="publishing" />
    </Page>
  )
}
