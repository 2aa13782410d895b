import { ListPlus, Trash2 } from 'lucide-react'
import { useMemo } from 'react'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { say } from '../../shell/words.ts'
import { networks } from '../brand/networks.ts'
import { useChecks } from './checks.ts'
import type { NetworkChoice } from './choices.ts'
import { type Draft, emptyDraft } from './draft.ts'

/** More posts than any network shows of one thread. */
const maxPosts = 25

/** The posts that follow the first: with one of them it is a thread. Each says what the chosen networks find of it. */
export function LaterPosts({
  brandId,
  draft,
  change,
  choices,
}: {
  readonly brandId: string
  readonly draft: Draft
  readonly choices: readonly NetworkChoice[]
  change(changes: Partial<Draft>): void
}) {
  const { later, platforms } = draft
  const comments = choices.filter(({ platform, capabilities }) => platforms.includes(platform) && capabilities.thread === 'COMMENT')
  return (
    <>
      {later.map((copy, at) => (
        <LaterPost
          key={at}
          brandId={brandId}
          platforms={platforms}
          number={at + 2}
          copy={copy}
          onChange={text => change({ later: later.with(at, text) })}
          onRemove={() => change({ later: later.toSpliced(at, 1) })}
        />
      ))}
      {later.length > 0 && comments.length > 0 && (
        <p className="quiet small">{say('compose.thread-comments', { networks: comments.map(({ platform }) => networks[platform]).join(', ') })}</p>
      )}
      {later.length < maxPosts - 1 && (
        <div className="actions">
          <Button kind="quiet" icon={ListPlus} onPress={() => change({ later: [...later, ''] })}>
            {say('compose.thread-add')}
          </Button>
        </div>
      )}
    </>
  )
}

function LaterPost({
  brandId,
  platforms,
  number,
  copy,
  onChange,
  onRemove,
}: {
  readonly brandId: string
  readonly platforms: Draft['platforms']
  readonly number: number
  readonly copy: string
  onChange(copy: string): void
  onRemove(): void
}) {
  const draft = useMemo(() => ({ ...emptyDraft, copy, platforms }), [copy, platforms])
  const checks = useChecks(brandId, draft)
  const wrong = checks.flatMap(({ problems }) => problems).find(({ severity, field }) => severity === 'ERROR' && field === 'copy')?.message
  const counted = checks.map(({ platform, length, maxLength }) => `${networks[platform]} ${say('compose.length', { length, max: maxLength })}`)
  return (
    <div className="later">
      <Field label={say('compose.thread-post', { number })} value={copy} onChange={onChange} rows={3} wrong={wrong} hint={counted.join(' · ') || undefined} />
      <Button kind="quiet" icon={Trash2} name={say('compose.thread-remove', { number })} onPress={onRemove} />
    </div>
  )
}
