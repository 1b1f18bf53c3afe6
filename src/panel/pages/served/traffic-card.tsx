import { useLanguage } from '../../language/language.tsx';
import { TrafficChart } from '../../parts/chart/traffic-chart.tsx';

/** The traffic of a tunnel or host over time. @param width the class of its width */
export function TrafficCard({ resource, id, width = '' }: { readonly resource: 'TUNNEL' | 'HOST'; readonly id: string; readonly width?: string }) {
  const { t } = useLanguage();
  return (
    <section className={`card ${width}`} aria-labelledby='h-traffic'>
      <div className='card-head'>
        <h2 id='h-traffic'>{t.traffic.title}</h2>
      </div>
      <div className='card-body'>
        <TrafficChart resource={resource} id={id} />
      </div>
    </section>
  );
}
