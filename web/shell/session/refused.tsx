import { Problem } from '../../design/parts/states.tsx'
import { base } from '../place.ts'
import { say } from '../words.ts'

/** The code with which somebody came opens nothing: the ways on. @param start the app's first page, which signs in once more */
export const Refused = ({ start }: { readonly start: string }) => (
  <>
    <div className="title">
      <h1>{say('launch.title')}</h1>
    </div>
    <section className="region" data-state="error">
      <Problem sentence={say('sign-in.refused')}>
        <div className="actions">
          <a className="button primary" href={`${base}/login`}>
            {say('sign-in.again')}
          </a>
          <a className="button secondary" href={`${base}${start}`}>
            {say('sign-in.back')}
          </a>
        </div>
      </Problem>
    </section>
  </>
)
