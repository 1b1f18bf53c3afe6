import type { Settings } from './settings/settings.ts';
import type { Retention } from './store/store.ts';

/** How long the store keeps history, by the settings of the server. */
export function retentionOf({ auditDays, trafficMinuteDays, trafficHourDays, trafficDayDays }: Settings): Retention {
  return { audit: auditDays, traffic: { minute: trafficMinuteDays, hour: trafficHourDays, day: trafficDayDays } };
}
