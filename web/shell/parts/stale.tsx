import { CircleAlert } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Note } from '../../design/parts/status.tsx'
import { say } from '../words.ts'

/** A field of a form in both versions, as people read it. */
export interface Difference {
  readonly name: string
  readonly mine: string
  readonly theirs: string
}

/**
 * Says that somebody else saved first, shows both versions of what differs, and asks which one it is to be.
 * @param onKeep saves what was typed over theirs
 * @param onTake forgets what was typed
 */
export const Stale = ({
  differences,
  isBusy,
  onKeep,
  onTake,
}: {
  readonly differences: readonly Difference[]
  readonly isBusy: boolean
  onKeep(): void
  onTake(): void
}) => (
  <div role="alert" data-stale="">
    <Note meaning="warning" icon={CircleAlert}>
      {say('stale.title')}
    </Note>
    <Facts
      of={differences.flatMap(({ name, mine, theirs }) => [[say('stale.mine', { name }), mine] as const, [say('stale.theirs', { name }), theirs] as const])}
    />
    <div className="actions">
      <Button isDisabled={isBusy} onPress={onKeep}>
        {say('stale.keep')}
      </Button>
      <Button isDisabled={isBusy} onPress={onTake}>
        {say('stale.take')}
      </Button>
    </div>
  </div>
)
