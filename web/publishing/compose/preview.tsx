import { CircleAlert, CircleCheck, Link2, MessageSquare, PenLine, TriangleAlert, Undo2 } from 'lucide-react'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Select } from '../../design/parts/select.tsx'
import { Note } from '../../design/parts/status.tsx'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { type Network, networks } from '../brand/networks.ts'
import { Preview } from '../media/preview.tsx'
import type { Check } from './checks.ts'
import type { NetworkChoice } from './choices.ts'
import { type Draft, isLink, type Override } from './draft.ts'

/** How the post looks on each chosen network, what the network says of it, and what it gets of its own. */
export const Previews = ({
  draft,
  change,
  checks,
  choices,
}: {
  readonly draft: Draft
  readonly checks: readonly Check[]
  readonly choices: readonly NetworkChoice[]
  change(changes: Partial<Draft>): void
}) => (
  <Region title={say('compose.preview')} state="ready">
    {draft.platforms.length === 0 && <p className="quiet">{say('compose.choose')}</p>}
    {draft.platforms.map(platform => (
      <NetworkPreview
        key={platform}
        draft={draft}
        platform={platform}
        check={checks.find(each => each.platform === platform)}
        choice={choices.find(each => each.platform === platform)}
        override={(next: Override | null) => {
          const { [platform]: _, ...others } = draft.overrides
          change({ overrides: next ? { ...others, [platform]: next } : others })
        }}
      />
    ))}
  </Region>
)

function NetworkPreview({
  draft,
  platform,
  check,
  choice,
  override,
}: {
  readonly draft: Draft
  readonly platform: Network
  readonly check: Check | undefined
  readonly choice: NetworkChoice | undefined
  override(next: Override | null): void
}) {
  const own = draft.overrides[platform] ?? {}
  const name = networks[platform]
  const copy = own.copy ?? draft.copy
  const account = choice?.connections?.find(each => each?.active)?.accountName
  const targets = (choice?.targets ?? []).filter(({ available }) => available)
  const standard = targets.find(({ isDefault }) => isDefault) ?? targets[0]
  const idOf = ({ kind, externalId }: (typeof targets)[number]) => `${kind} ${externalId}`
  return (
    <article className="preview" data-platform={platform}>
      <header>
        <h3>{name}</h3>
        {account && <span className="quiet small clip">{account}</span>}
        {own.copy === undefined ? (
          <Button kind="quiet" icon={PenLine} name={say('compose.override', { network: name })} onPress={() => override({ ...own, copy: draft.copy })} />
        ) : (
          <Button
            kind="quiet"
            icon={Undo2}
            name={say('compose.override-end', { network: name })}
            onPress={() => override(own.target === undefined ? null : { target: own.target })}
          />
        )}
      </header>
      {own.copy !== undefined && (
        <Field label={say('compose.override-text', { network: name })} value={own.copy} onChange={text => override({ ...own, copy: text })} rows={4} />
      )}
      {targets.length > 1 && standard && (
        <Select
          label={say('compose.target', { network: name })}
          choices={targets.map(each => ({ id: idOf(each), name: each.name }))}
          value={own.target ?? idOf(standard)}
          onChange={target => override({ ...own, target })}
        />
      )}
      {draft.title !== '' && <h4>{draft.title}</h4>}
      <p className="text" dir="auto">
        {copy || <span className="quiet">{say('compose.nothing')}</span>}
      </p>
      {draft.media.length > 0 && (
        <ul className="shown">
          {draft.media.map(({ assetId, altText, name: medium, previewUrl }) => (
            <li key={assetId}>
              <Preview url={previewUrl} alt={altText || medium} kind="IMAGE" />
            </li>
          ))}
        </ul>
      )}
      {isLink(draft.link) && (
        <p className="small clip">
          <Icon of={Link2} /> {new URL(draft.link).host}
        </p>
      )}
      {draft.firstComment !== '' && choice?.capabilities.firstComment && (
        <p className="small quiet">
          <Icon of={MessageSquare} /> {draft.firstComment}
        </p>
      )}
      {check && (
        <p className={check.length > check.maxLength ? 'small wrong' : 'small quiet figures'}>
          {say('compose.length', { length: check.length, max: check.maxLength })}
        </p>
      )}
      {check?.problems.map(({ code, field, message, severity }) => (
        <Note key={`${code} ${field}`} meaning={severity === 'ERROR' ? 'danger' : 'warning'} icon={severity === 'ERROR' ? CircleAlert : TriangleAlert}>
          {message}
        </Note>
      ))}
      {check?.problems.length === 0 && (
        <p className="small quiet">
          <Icon of={CircleCheck} /> {say('compose.fits')}
        </p>
      )}
    </article>
  )
}
