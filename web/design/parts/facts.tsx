import type { ReactNode } from 'react'

/** What is known of a thing, a line each; a fact without a value is left out. */
export const Facts = ({ of }: { readonly of: readonly (readonly [label: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {of.flatMap(([label, value]) =>
      value === null || value === undefined || value === '' || value === false
        ? []
        : [
            <dt key={label}>{label}</dt>,
            <dd key={`${label} value`} className="figures">
              {value}
            </dd>,
          ],
    )}
  </dl>
)
