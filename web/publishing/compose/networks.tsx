import { say } from '../../shell/words.ts'
import type { NetworkChoice } from './choices.ts'
import type { Draft } from './draft.ts'

/** A toggle a network; one that cannot be connected says why. */
export const Networks = ({
  choices,
  draft: { platforms },
  change,
}: {
  readonly choices: readonly NetworkChoice[]
  readonly draft: Draft
  change(changes: Partial<Draft>): void
}) => (
  <fieldset className="field">
    <legend>{say('compose.networks')}</legend>
    <div className="toggles">
      {choices.map(({ platform, title, connectable, reason }) => (
        <label key={platform} title={connectable ? undefined : (reason ?? undefined)}>
          <input
            type="checkbox"
            checked={platforms.includes(platform)}
            disabled={!connectable}
            onChange={event => change({ platforms: event.target.checked ? [...platforms, platform] : platforms.filter(each => each !== platform) })}
          />
          {title}
          {!connectable && <span className="unseen">{reason}</span>}
        </label>
      ))}
    </div>
  </fieldset>
)
