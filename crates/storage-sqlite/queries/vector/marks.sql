select generation, through from vector_mark where store = ?1 order by generation
